// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Fuzzes the readers of what a Prometheus answers, and of queries.
// scripts/fuzz.sh builds it with clang.

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "distbench/products/server_metrics/prometheus_answer.h"
#include "distbench/products/server_metrics/prometheus_url.h"
#include "distbench/products/server_metrics/server_metrics.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace metrics = distbench::server_metrics;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  (void)metrics::ParsePrometheusAnswer(200, text).ok();
  (void)metrics::ParsePrometheusUrl(text).ok();
  metrics::QueryRangeNs(text);
  return 0;
}
