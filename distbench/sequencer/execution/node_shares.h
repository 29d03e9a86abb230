// Derives each node's part of a test from a placement.

#ifndef DISTBENCH_SEQUENCER_EXECUTION_NODE_SHARES_H_
#define DISTBENCH_SEQUENCER_EXECUTION_NODE_SHARES_H_

#include <memory>
#include <vector>

#include "distbench/sequencer/execution/participant.h"
#include "distbench/sequencer/nodes/node_handle.h"
#include "distbench/sequencer/placement/placement.h"

namespace distbench::sequencer {

// Returns the nodes in the form that PlaceInstances() expects. In addition to
// the attributes with which a node was started it has "node_alias", and, unless
// it was started with another value, "hostname", "cpu_count", "numa_node_count"
// and, if all its CPUs are of one NUMA node, "numa_node".
std::vector<PlacementNode> PlacementNodes(
    const std::vector<std::shared_ptr<NodeHandle>>& nodes);

// Returns the nodes that take part in the test. All instances on a host, which
// may run several node managers, share its cores: each gets cores / instances
// workers, at least one. Node managers that are bound to different CPUs share
// nothing. `placement` must be a placement on `nodes`.
std::vector<NodeShare> MakeNodeShares(
    const std::vector<std::shared_ptr<NodeHandle>>& nodes,
    const Placement& placement);

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_EXECUTION_NODE_SHARES_H_
