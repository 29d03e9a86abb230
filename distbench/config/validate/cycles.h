// Finds cycles in directed graphs.

#ifndef DISTBENCH_CONFIG_VALIDATE_CYCLES_H_
#define DISTBENCH_CONFIG_VALIDATE_CYCLES_H_

#include <vector>

namespace distbench::config {

// The successors of each node. Nodes are numbered from 0.
using Graph = std::vector<std::vector<int>>;

// Returns the maximal sets of nodes that can all reach one another by at least
// one edge. Every cycle lies inside one of these sets. Nodes ascend, and so do
// sets, by their first node. Takes linear time and does not recurse.
std::vector<std::vector<int>> CyclicComponents(const Graph& graph);

// Returns a shortest cycle through the first node of a cyclic component,
// beginning with that node.
std::vector<int> ShortestCycle(const Graph& graph,
                               const std::vector<int>& component);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_VALIDATE_CYCLES_H_
