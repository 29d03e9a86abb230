#include "distbench/metrics/metrics_server.h"

#include <prometheus/collectable.h>
#include <prometheus/exposer.h>

#include <exception>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/listen_address.h"
#include "distbench/metrics/process_metrics.h"

namespace distbench {
namespace {

// CivetWeb's. Scrapes are rare and short.
std::vector<std::string> ServerOptions(const std::vector<std::string>& ports) {
  return {"listening_ports", absl::StrJoin(ports, ","), "num_threads", "2",
          "request_timeout_ms", "5000"};
}

class Collector final : public prometheus::Collectable {
 public:
  explicit Collector(MetricsServer::Source source)
      : source_(std::move(source)) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    std::vector<prometheus::MetricFamily> families = source_();
    for (prometheus::MetricFamily& family : ProcessMetrics()) {
      families.push_back(std::move(family));
    }
    return families;
  }

 private:
  const MetricsServer::Source source_;
};

prometheus::MetricFamily Family(const std::string& name,
                                const std::string& help,
                                prometheus::MetricType type) {
  prometheus::MetricFamily family;
  family.name = name;
  family.help = help;
  family.type = type;
  family.metric.emplace_back();
  return family;
}

}  // namespace

prometheus::MetricFamily Gauge(const std::string& name, const std::string& help,
                               double value) {
  auto family = Family(name, help, prometheus::MetricType::Gauge);
  family.metric.front().gauge.value = value;
  return family;
}

prometheus::MetricFamily Counter(const std::string& name,
                                 const std::string& help, double value) {
  auto family = Family(name, help, prometheus::MetricType::Counter);
  family.metric.front().counter.value = value;
  return family;
}

class MetricsServer::Impl {
 public:
  Impl(const std::vector<std::string>& addresses, Source source)
      : collector_(std::make_shared<Collector>(std::move(source))),
        exposer_(ServerOptions(addresses)) {
    exposer_.RegisterCollectable(collector_);
  }

  int port() const { return exposer_.GetListeningPorts().front(); }

 private:
  const std::shared_ptr<Collector> collector_;
  prometheus::Exposer exposer_;
};

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(
    const std::string& listen_address, int port, Source source) {
  if (port == 0) {
    const absl::StatusOr<int> free = FindFreePort(listen_address);
    if (!free.ok()) return free.status();
    port = *free;
  }
  const absl::StatusOr<std::vector<std::string>> addresses =
      ListenAddresses(listen_address, port);
  if (!addresses.ok()) return addresses.status();
  // CivetWeb takes "+PORT" for both families.
  std::vector<std::string> ports;
  for (const std::string& address : *addresses) {
    ports.push_back(listen_address.empty() ? absl::StrCat("+", port) : address);
  }
  // The library reports its errors by exceptions.
  try {
    return std::unique_ptr<MetricsServer>(
        new MetricsServer(std::make_unique<Impl>(ports, std::move(source))));
  } catch (const std::exception& error) {
    return absl::UnavailableError(
        absl::StrCat("can not serve metrics at ", absl::StrJoin(ports, ", "),
                     ": ", error.what()));
  }
}

MetricsServer::MetricsServer(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}

MetricsServer::~MetricsServer() = default;

int MetricsServer::port() const { return impl_->port(); }

}  // namespace distbench
