// From a placement to what each node is told.

#ifndef DISTBENCH_SEQUENCER_EXECUTION_NODE_SHARES_H_
#define DISTBENCH_SEQUENCER_EXECUTION_NODE_SHARES_H_

#include <memory>
#include <vector>

#include "distbench/sequencer/execution/participant.h"
#include "distbench/sequencer/execution/placement.h"
#include "distbench/sequencer/nodes/node_handle.h"

namespace distbench {

// The nodes as PlaceInstances() wants them. Besides the attributes that a node
// was started with it has "node_alias", and, unless it was started with another
// value, "hostname", "cpu_count", "numa_node_count" and, if all its CPUs are of
// one NUMA node, "numa_node".
std::vector<PlacementNode> PlacementNodes(
    const std::vector<std::shared_ptr<NodeHandle>>& nodes);

// The nodes that have a part in the test. All instances on a host, which may
// run several node managers, share its cores: each gets cores / instances
// workers, at least one. Node managers that are bound to different CPUs share
// nothing. `placement` is of `nodes`.
std::vector<NodeShare> MakeNodeShares(
    const std::vector<std::shared_ptr<NodeHandle>>& nodes,
    const Placement& placement);

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_EXECUTION_NODE_SHARES_H_
