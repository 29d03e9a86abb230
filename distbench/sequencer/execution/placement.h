// Which node hosts which instances of a test.

#ifndef DISTBENCH_SEQUENCER_EXECUTION_PLACEMENT_H_
#define DISTBENCH_SEQUENCER_EXECUTION_PLACEMENT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/config/syntax/constraints.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

struct PlacementNode {
  std::string alias;
  Attributes attributes;
};

// Instance names per node, in the order of the nodes; empty for nodes that have
// no part in the test.
using Placement = std::vector<std::vector<std::string>>;

// Places every instance of a canonical test:
// 1. bundled instances on the node that their bundle names,
// 2. constrained ones, each on a node of its own: in the order of the config,
//    on the first idle node that satisfies the constraints, unless a later
//    instance can do with no other,
// 3. the rest, each on an idle node of its own, in the order of the nodes.
//
// The error says what can not be placed, and why not on which node:
// NOT_FOUND for what a bundle names and does not exist, FAILED_PRECONDITION if
// there are too few nodes, constraints can not be met, or instances that reach
// each other only within one process would be on several nodes.
absl::StatusOr<Placement> PlaceInstances(
    const DistributedSystemDescription& test,
    const std::vector<PlacementNode>& nodes);

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_EXECUTION_PLACEMENT_H_
