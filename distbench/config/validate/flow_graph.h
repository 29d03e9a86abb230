// The graph of action lists that run other lists.

#ifndef DISTBENCH_CONFIG_VALIDATE_FLOW_GRAPH_H_
#define DISTBENCH_CONFIG_VALIDATE_FLOW_GRAPH_H_

#include <vector>

#include "distbench/config/plan/test_names.h"
#include "distbench/config/validate/cycles.h"
#include "proto/traffic_config.pb.h"

namespace distbench::config {

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
