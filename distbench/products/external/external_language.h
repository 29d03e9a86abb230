// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The rules of external services and of calls to them in the traffic language:
// what they have, and that nothing else refers to them.

#ifndef DISTBENCH_PRODUCTS_EXTERNAL_EXTERNAL_LANGUAGE_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_EXTERNAL_LANGUAGE_H_

#include "distbench/config/validate/language_part.h"

namespace distbench::external {

class ExternalLanguage final : public config::LanguagePart {
 public:
  void Validate(const config::TestValidation& validation) const override;
  void ReadFiles(const config::Path& path, DistributedSystemDescription& test,
                 config::FileReader& files) const override;
  void RedactSecrets(DistributedSystemDescription& test) const override;
};

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_EXTERNAL_LANGUAGE_H_
