// Members of multi-server channels that depend on where instances run.

#ifndef DISTBENCH_SEQUENCER_EXECUTION_CHANNEL_MEMBERS_H_
#define DISTBENCH_SEQUENCER_EXECUTION_CHANNEL_MEMBERS_H_

#include <vector>

#include "absl/status/status.h"
#include "distbench/sequencer/execution/placement.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// Replaces constraints of channels that are about attributes of nodes by the
// instances that they select, so that the config says all that the nodes of the
// test have to know. An instance has the attributes of its node besides its
// own. `placement` is of `nodes`.
//
// FAILED_PRECONDITION if a channel has no members then; the error says why.
absl::Status ResolveChannelMembers(const std::vector<PlacementNode>& nodes,
                                   const Placement& placement,
                                   DistributedSystemDescription& test);

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_EXECUTION_CHANNEL_MEMBERS_H_
