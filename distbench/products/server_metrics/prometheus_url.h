// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Addresses of Prometheus, as tests and operators write them.

#ifndef DISTBENCH_PRODUCTS_SERVER_METRICS_PROMETHEUS_URL_H_
#define DISTBENCH_PRODUCTS_SERVER_METRICS_PROMETHEUS_URL_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace distbench::server_metrics {

struct PrometheusUrl {
  std::string host;  // without brackets
  std::string port;
  std::string prefix;  // of all paths; empty, or "/metrics/prometheus"
};

// Parses "http://HOST[:PORT][/PREFIX]". INVALID_ARGUMENT says what is wrong,
// and what would be right, to follow the URL: "uses https, ...".
absl::StatusOr<PrometheusUrl> ParsePrometheusUrl(absl::string_view url);

// The target of the request that asks for a query's value now; Prometheus is to
// give up after `timeout_ms`.
std::string QueryTarget(const PrometheusUrl& url, absl::string_view query,
                        int64_t timeout_ms);

}  // namespace distbench::server_metrics

#endif  // DISTBENCH_PRODUCTS_SERVER_METRICS_PROMETHEUS_URL_H_
