// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The graph of action lists that run other lists.

#ifndef DISTBENCH_CONFIG_VALIDATE_FLOW_GRAPH_H_
#define DISTBENCH_CONFIG_VALIDATE_FLOW_GRAPH_H_

#include <vector>

#include "distbench/config/plan/test_names.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

// Finds cycles in directed graphs.

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

// An action of one list that runs another list, nested or as an RPC handler.
struct FlowEdge {
  int from;
  int to;
  int rpc;           // kNone if nested
  bool conditional;  // whether a predicate may keep the action from running
};

// The edges of a test, which need not be valid: undefined names have no edges.
// In the order of the lists and their actions.
std::vector<FlowEdge> FlowEdges(const DistributedSystemDescription& test,
                                const TestNames& names);

// An action, executed by a service as part of a list.
struct ActionUse {
  int action;
  int list;
  int service;

  friend auto operator<=>(const ActionUse&, const ActionUse&) = default;
};

// The uses that occur when every service runs its main list and all resulting
// RPCs are handled. Lists each use once, in the order in which it is reached.
std::vector<ActionUse> ReachableUses(const DistributedSystemDescription& test,
                                     const TestNames& names);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_VALIDATE_FLOW_GRAPH_H_
