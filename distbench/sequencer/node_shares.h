// From a placement to what each node is told.

#ifndef DISTBENCH_SEQUENCER_NODE_SHARES_H_
#define DISTBENCH_SEQUENCER_NODE_SHARES_H_

#include <memory>
#include <vector>

#include "distbench/sequencer/node_handle.h"
#include "distbench/sequencer/participant.h"
#include "distbench/sequencer/placement.h"

namespace distbench {

// The nodes as PlaceInstances() wants them. Besides the attributes that a node
// was started with it has "node_alias".
std::vector<PlacementNode> PlacementNodes(
    const std::vector<std::shared_ptr<NodeHandle>>& nodes);

// The nodes that have a part in the test. All instances on a host, which may
// run several node managers, share its cores: each gets cores / instances
// workers, at least one. `placement` is of `nodes`.
std::vector<NodeShare> MakeNodeShares(
    const std::vector<std::shared_ptr<NodeHandle>>& nodes,
    const Placement& placement);

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_NODE_SHARES_H_
