// Cycles in directed graphs.

#ifndef DISTBENCH_CONFIG_VALIDATE_CYCLES_H_
#define DISTBENCH_CONFIG_VALIDATE_CYCLES_H_

#include <vector>

namespace distbench {

// The successors of each node; nodes are numbered from 0.
using Graph = std::vector<std::vector<int>>;

// The maximal sets of nodes that can all reach one another by at least one
// edge: every cycle lies inside one of them. Nodes and sets ascend (sets by
// their first node). Linear time; does not recurse.
std::vector<std::vector<int>> CyclicComponents(const Graph& graph);

// A shortest cycle through the first node of a cyclic component, beginning with
// that node.
std::vector<int> ShortestCycle(const Graph& graph,
                               const std::vector<int>& component);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_VALIDATE_CYCLES_H_
