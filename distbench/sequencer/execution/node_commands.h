// Builds the commands of a test.

#ifndef DISTBENCH_SEQUENCER_EXECUTION_NODE_COMMANDS_H_
#define DISTBENCH_SEQUENCER_EXECUTION_NODE_COMMANDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/security/test_guards.h"
#include "distbench/sequencer/execution/participant.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::sequencer {

NodeCommand PrepareCommand(const DistributedSystemDescription& test,
                           const NodeShare& share, int64_t clock_offset_ns,
                           bool use_loopback, const std::string& test_nonce,
                           const security::InstanceLimits& limits);

// The error names a peer that is not in `placement`.
absl::StatusOr<NodeCommand> ConnectCommand(
    const std::vector<std::string>& peers, const ServiceEndpointMap& placement,
    absl::Duration timeout);

NodeCommand StartCommand(int64_t start_timestamp_ns, absl::Duration timeout,
                         absl::Duration progress_interval,
                         bool progress_with_pongs);
NodeCommand StopCommand(absl::string_view reason);
NodeCommand CollectCommand(int64_t window_bytes);
NodeCommand ResultsTakenCommand(int64_t bytes);
NodeCommand ReleaseCommand();

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_EXECUTION_NODE_COMMANDS_H_
