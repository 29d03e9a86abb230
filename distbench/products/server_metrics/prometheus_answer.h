// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What a Prometheus answers.

#ifndef DISTBENCH_PRODUCTS_SERVER_METRICS_PROMETHEUS_ANSWER_H_
#define DISTBENCH_PRODUCTS_SERVER_METRICS_PROMETHEUS_ANSWER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::server_metrics {

struct PrometheusAnswer {
  double value = 0;  // finite

  // When the query was evaluated, by the clock of the Prometheus, in seconds
  // since the Unix epoch.
  double timestamp_s = 0;
};

// Reads the answer to a query at one time, whose body may be anything. The
// error says why it gives no value: the Prometheus' own error, or an answer
// that is not one finite number.
absl::StatusOr<PrometheusAnswer> ParsePrometheusAnswer(int http_status,
                                                       absl::string_view body);

}  // namespace distbench::server_metrics

#endif  // DISTBENCH_PRODUCTS_SERVER_METRICS_PROMETHEUS_ANSWER_H_
