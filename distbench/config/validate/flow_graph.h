// Which action lists run which.

#ifndef DISTBENCH_CONFIG_VALIDATE_FLOW_GRAPH_H_
#define DISTBENCH_CONFIG_VALIDATE_FLOW_GRAPH_H_

#include <vector>

#include "distbench/config/plan/test_names.h"
#include "distbench/config/validate/cycles.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// An action of one list that runs another: nested, or as the handler of an RPC.
struct FlowEdge {
  int from;
  int to;
  int rpc;           // kNone if nested
  bool conditional;  // whether a predicate may keep the action from running
};

// The edges of a test, valid or not: what does not exist has none. In the order
// of lists and their actions.
std::vector<FlowEdge> FlowEdges(const DistributedSystemDescription& test,
                                const TestNames& names);

// An execution of an action by a service.
struct ActionUse {
  int action;
  int list;
  int service;

  friend auto operator<=>(const ActionUse&, const ActionUse&) = default;
};

// What happens when every service runs its main list, and every RPC that
// follows is handled: each use once, in the order in which it is reached.
std::vector<ActionUse> ReachableUses(const DistributedSystemDescription& test,
                                     const TestNames& names);

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_VALIDATE_FLOW_GRAPH_H_
