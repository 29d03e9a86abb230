#include "distbench/node/node_endpoints.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/listen_address.h"

namespace distbench::node {
namespace {

// Health requests are small.
constexpr int kMaxMessageBytes = 1 << 20;
constexpr int kHandshakeTimeoutMs = 5000;

}  // namespace

NodeEndpoints::NodeEndpoints() = default;

NodeEndpoints::~NodeEndpoints() {
  if (health_ != nullptr) health_->Shutdown(std::chrono::system_clock::now());
}

absl::Status NodeEndpoints::Start(const NodeEndpointOptions& options) {
  if (options.health_port != 0) {
    absl::Status status = StartHealth(options);
    if (!status.ok()) return status;
  }
  if (!options.metrics_port.has_value()) return absl::OkStatus();
  auto metrics = metrics::MetricsServer::Start(options.listen_address,
                                               *options.metrics_port,
                                               [this] { return Metrics(); });
  if (!metrics.ok()) return metrics.status();
  metrics_ = *std::move(metrics);
  return absl::OkStatus();
}

absl::Status NodeEndpoints::StartHealth(const NodeEndpointOptions& options) {
  const absl::StatusOr<std::vector<std::string>> addresses =
      base::ListenAddresses(options.listen_address, options.health_port);
  if (!addresses.ok()) return addresses.status();
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             kHandshakeTimeoutMs);
  for (const std::string& address : *addresses) {
    builder.AddListeningPort(
        address, security::MakeServerCredentials(options.tls.get()));
  }
  health_ = builder.BuildAndStart();
  if (health_ == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen at ", absl::StrJoin(*addresses, ", ")));
  }
  health_->GetHealthCheckService()->SetServingStatus(false);
  return absl::OkStatus();
}

int NodeEndpoints::metrics_port() const {
  return metrics_ == nullptr ? 0 : metrics_->port();
}

void NodeEndpoints::SetRegistered(bool registered) {
  if (health_ != nullptr) {
    health_->GetHealthCheckService()->SetServingStatus(registered);
  }
  const absl::MutexLock lock(&mutex_);
  registered_ = registered;
}

std::vector<prometheus::MetricFamily> NodeEndpoints::Metrics() {
  std::vector<prometheus::MetricFamily> families = traffic_.Collect();
  const absl::MutexLock lock(&mutex_);
  families.push_back(metrics::Gauge("distbench_registered",
                                    "1 while the sequencer knows the node",
                                    registered_ ? 1 : 0));
  return families;
}

}  // namespace distbench::node
