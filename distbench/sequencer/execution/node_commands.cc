#include "distbench/sequencer/execution/node_commands.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace distbench::sequencer {

NodeCommand PrepareCommand(const DistributedSystemDescription& test,
                           const NodeShare& share, int64_t clock_offset_ns,
                           bool use_loopback, const std::string& test_nonce,
                           const security::InstanceLimits& limits) {
  NodeCommand command;
  PrepareTest& prepare = *command.mutable_prepare();
  NodeServiceConfig& config = *prepare.mutable_config();
  *config.mutable_traffic_config() = test;
  for (const std::string& instance : share.instances) {
    config.add_services(instance);
  }
  prepare.set_workers_per_instance(share.workers_per_instance);
  prepare.set_clock_offset_ns(clock_offset_ns);
  prepare.set_use_loopback(use_loopback);
  prepare.set_test_nonce(test_nonce);
  prepare.mutable_target_rates()->insert(limits.begin(), limits.end());
  return command;
}

absl::StatusOr<NodeCommand> ConnectCommand(
    const std::vector<std::string>& peers, const ServiceEndpointMap& placement,
    absl::Duration timeout) {
  NodeCommand command;
  ConnectPeers& connect = *command.mutable_connect();
  connect.set_timeout_ns(absl::ToInt64Nanoseconds(timeout));
  auto& endpoints = *connect.mutable_endpoints()->mutable_service_endpoints();
  for (const std::string& peer : peers) {
    const auto it = placement.service_endpoints().find(peer);
    if (it == placement.service_endpoints().end()) {
      return absl::NotFoundError(
          absl::StrCat("no node gave an endpoint for ", peer));
    }
    endpoints[peer] = it->second;
  }
  return command;
}

NodeCommand StartCommand(int64_t start_timestamp_ns, absl::Duration timeout,
                         absl::Duration progress_interval,
                         bool progress_with_pongs) {
  NodeCommand command;
  StartTraffic& start = *command.mutable_start();
  start.set_start_timestamp_ns(start_timestamp_ns);
  start.set_timeout_ns(absl::ToInt64Nanoseconds(timeout));
  start.set_progress_interval_ns(absl::ToInt64Nanoseconds(progress_interval));
  start.set_progress_with_pongs(progress_with_pongs);
  return command;
}

NodeCommand StopCommand(absl::string_view reason) {
  NodeCommand command;
  command.mutable_stop()->set_reason(std::string(reason));
  return command;
}

NodeCommand CollectCommand(int64_t window_bytes) {
  NodeCommand command;
  command.mutable_collect()->set_window_bytes(window_bytes);
  return command;
}

NodeCommand ResultsTakenCommand(int64_t bytes) {
  NodeCommand command;
  command.mutable_results_taken()->set_bytes(bytes);
  return command;
}

NodeCommand ReleaseCommand() {
  NodeCommand command;
  command.mutable_release();
  return command;
}

}  // namespace distbench::sequencer
