// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The rules of server_metrics beyond those of its fields, and of objectives on
// it.

#ifndef DISTBENCH_PRODUCTS_SERVER_METRICS_SERVER_METRICS_LANGUAGE_H_
#define DISTBENCH_PRODUCTS_SERVER_METRICS_SERVER_METRICS_LANGUAGE_H_

#include "distbench/config/objectives/objective.h"
#include "distbench/config/validate/language_part.h"
#include "distbench/config/validate/test_validation.h"

namespace distbench::server_metrics {

class ServerMetricsLanguage final : public config::LanguagePart {
 public:
  void Validate(const config::TestValidation& validation) const override;
  bool CheckObjective(const config::TestValidation& validation,
                      const config::Path& path,
                      const config::Objective& objective,
                      bool is_of_search) const override;
};

}  // namespace distbench::server_metrics

#endif  // DISTBENCH_PRODUCTS_SERVER_METRICS_SERVER_METRICS_LANGUAGE_H_
