// Members of multi-server channels that depend on where instances run.

#ifndef DISTBENCH_SEQUENCER_PLACEMENT_CHANNEL_MEMBERS_H_
#define DISTBENCH_SEQUENCER_PLACEMENT_CHANNEL_MEMBERS_H_

#include <vector>

#include "absl/status/status.h"
#include "distbench/sequencer/placement/placement.h"
#include "proto/traffic_config.pb.h"

namespace distbench::sequencer {

// Replaces those constraints of channels that refer to attributes of nodes by
// the selected instances, so that the config tells the nodes of the test
// everything they need. An instance has the attributes of its node in addition
// to its own. `placement` must be a placement on `nodes`.
//
// FAILED_PRECONDITION if a channel then has no members; the error says why.
absl::Status ResolveChannelMembers(const std::vector<PlacementNode>& nodes,
                                   const Placement& placement,
                                   DistributedSystemDescription& test);

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_PLACEMENT_CHANNEL_MEMBERS_H_
