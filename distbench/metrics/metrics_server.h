// Metrics for Prometheus, over HTTP at /metrics.

#ifndef DISTBENCH_METRICS_METRICS_SERVER_H_
#define DISTBENCH_METRICS_METRICS_SERVER_H_

#include <prometheus/metric_family.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace distbench {

// A metric with one value.
prometheus::MetricFamily Gauge(const std::string& name, const std::string& help,
                               double value);
prometheus::MetricFamily Counter(const std::string& name,
                                 const std::string& help, double value);

// Thread-safe.
class MetricsServer {
 public:
  // What there is to say, asked for each time that somebody wants to know. Any
  // thread, several at a time.
  using Source = std::function<std::vector<prometheus::MetricFamily>()>;

  // Listens at an address as ListenAddresses() takes it; port 0 picks a free
  // one. Metrics of the process come on top of those of the source. The error
  // says what is wrong with the address.
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(
      const std::string& listen_address, int port, Source source);
  ~MetricsServer();

  int port() const;

 private:
  class Impl;
  explicit MetricsServer(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace distbench

#endif  // DISTBENCH_METRICS_METRICS_SERVER_H_
