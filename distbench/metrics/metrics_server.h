// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Serves metrics to Prometheus, over HTTP at /metrics: those of the program,
// and those of its process.

#ifndef DISTBENCH_METRICS_METRICS_SERVER_H_
#define DISTBENCH_METRICS_METRICS_SERVER_H_

#include <prometheus/metric_family.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/metrics/openmetrics.h"

namespace distbench::metrics {

// Returns the standard metrics of Prometheus' client libraries (such as
// process_cpu_seconds_total), threads and sockets of this process. A value that
// /proc does not give is 0.
std::vector<prometheus::MetricFamily> ProcessMetrics();

// Thread-safe.
class MetricsServer {
 public:
  // Returns the current metrics. Called for each scrape, on any thread,
  // possibly on several at a time.
  using Source = std::function<std::vector<prometheus::MetricFamily>()>;

  // Listens on an address that ListenAddresses() accepts; port 0 picks a free
  // port. Adds metrics of the process to those of `source`. The error says what
  // is wrong with the address.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(
      const std::string& listen_address, int port, Source source);
  ~MetricsServer();

  int port() const;

 private:
  class Impl;
  explicit MetricsServer(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace distbench::metrics

#endif  // DISTBENCH_METRICS_METRICS_SERVER_H_
