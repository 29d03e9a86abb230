// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Where a metric is read.

#ifndef DISTBENCH_PRODUCTS_SERVER_METRICS_READING_METRIC_SOURCE_H_
#define DISTBENCH_PRODUCTS_SERVER_METRICS_READING_METRIC_SOURCE_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "distbench/products/server_metrics/prometheus_url.h"

namespace distbench::server_metrics {

struct SourceReading {
  double value = 0;  // finite

  // When the source made it, by its own clock, in seconds since the Unix epoch.
  std::optional<double> timestamp_s = {};
};

class MetricSource {
 public:
  virtual ~MetricSource() = default;

  // Reads the metric once. Blocks until there is a value, or an error that says
  // why not, within `timeout`. One thread at a time.
  virtual absl::StatusOr<SourceReading> Read(absl::Duration timeout) = 0;

  // On any thread: Read() returns at once, with an error, now and from now on.
  virtual void Cancel() = 0;
};

// The value of a query, by one connection for each reading. The host's name is
// resolved here and now; one that has no address makes all readings fail.
std::unique_ptr<MetricSource> MakePrometheusSource(const PrometheusUrl& url,
                                                   const std::string& query);

// The number that a command prints, which /bin/sh runs. It and its children end
// with the reading.
std::unique_ptr<MetricSource> MakeCommandSource(const std::string& command);

}  // namespace distbench::server_metrics

#endif  // DISTBENCH_PRODUCTS_SERVER_METRICS_READING_METRIC_SOURCE_H_
