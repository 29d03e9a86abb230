#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/fanout_filter.h"
#include "distbench/config/validate/flow_graph.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

void CheckCaller(const TestValidation& validation, const ActionUse& use) {
  const DistributedSystemDescription& test = validation.test();
  const Action& action = test.actions(use.action);
  const int index = validation.names().rpcs.Find(action.rpc_name());
  if (!action.has_rpc_name() || index == kNone) return;
  const std::string& service = test.services(use.service).name();
  const auto& clients = test.rpc_descriptions(index).client();
  if (std::find(clients.begin(), clients.end(), service) != clients.end()) {
    return;
  }
  validation.Add(
      validation.Action(use.action).Field("rpc_name"),
      absl::StrCat("service ", Quoted(service), " runs this in action list ",
                   Quoted(test.action_lists(use.list).name()),
                   ", but is not a client of RPC ", Quoted(action.rpc_name()),
                   "; add client: ", Quoted(service), " to the RPC"));
}

void CheckReplayer(const TestValidation& validation, const ActionUse& use) {
  const DistributedSystemDescription& test = validation.test();
  const Action& action = test.actions(use.action);
  const int index =
      validation.names().replay_traces.Find(action.rpc_replay_trace_name());
  if (!action.has_rpc_replay_trace_name() || index == kNone) return;
  const std::string& service = test.services(use.service).name();
  const std::string& client = test.rpc_replay_traces(index).client();
  // An undefined client is reported with the trace.
  if (client == service || validation.names().services.Find(client) == kNone) {
    return;
  }
  validation.Add(
      validation.Action(use.action).Field("rpc_replay_trace_name"),
      absl::StrCat("service ", Quoted(service), " runs this in action list ",
                   Quoted(test.action_lists(use.list).name()),
                   ", but the client of the trace is ", Quoted(client),
                   "; run it there"));
}

// Checks each action once per service, however many lists contain it.
void CheckCallers(const TestValidation& validation) {
  std::set<std::pair<int, int>> checked;
  for (const ActionUse& use :
       ReachableUses(validation.test(), validation.names())) {
    if (!checked.insert({use.action, use.service}).second) continue;
    CheckCaller(validation, use);
    CheckReplayer(validation, use);
  }
}

// The graph of the edges that satisfy the condition.
template <typename Condition>
Graph GraphOf(const TestValidation& validation,
              const std::vector<FlowEdge>& edges, Condition condition) {
  Graph graph(validation.test().action_lists_size());
  for (const FlowEdge& edge : edges) {
    if (condition(edge)) graph[edge.from].push_back(edge.to);
  }
  return graph;
}

// Returns `, by way of "b", "c"`; empty for a list that leads directly to
// itself.
std::string ByWayOf(const TestValidation& validation,
                    const std::vector<int>& cycle) {
  if (cycle.size() < 2) return "";
  std::vector<std::string> names;
  for (int i = 1; i < cycle.size(); ++i) {
    names.push_back(validation.test().action_lists(cycle[i]).name());
  }
  return absl::StrCat(", by way of ", QuotedList(names));
}

// Whether the component consists of RPCs that only move in one direction along
// the axes of a grid: such RPCs end at its edge.
bool EndsAtGridEdge(const TestValidation& validation,
                    const std::vector<FlowEdge>& edges,
                    const std::vector<int>& component) {
  const std::set<int> lists(component.begin(), component.end());
  // axis, and whether it is ascending
  std::set<std::pair<int, bool>> directions;
  for (const FlowEdge& edge : edges) {
    const bool inside = lists.count(edge.from) > 0 && lists.count(edge.to) > 0;
    if (!inside || edge.conditional || edge.rpc == kNone) continue;
    const RpcSpec& rpc = validation.test().rpc_descriptions(edge.rpc);
    const auto fanout = ParseFanoutFilter(rpc.fanout_filter());
    if (!fanout.ok() || fanout->kind != FanoutPlan::Kind::kLinear ||
        fanout->distance == 0 || !rpc.multi_server_channel_name().empty()) {
      return false;
    }
    directions.insert({fanout->axis, fanout->distance > 0});
    if (directions.count({fanout->axis, fanout->distance < 0}) > 0) {
      return false;
    }
  }
  return !directions.empty();
}

// Checks that lists do not nest too deeply, except where they run themselves,
// which is reported elsewhere. An engine starts a nested list on the same stack
// as the list that runs it.
void CheckNesting(const TestValidation& validation, const Graph& nested) {
  std::vector<int> callers(nested.size(), 0);
  for (const std::vector<int>& successors : nested) {
    for (const int list : successors) ++callers[list];
  }
  std::vector<int> depths(nested.size(), 0);
  std::vector<int> ready;
  for (int list = 0; list < nested.size(); ++list) {
    if (callers[list] == 0) ready.push_back(list);
  }
  while (!ready.empty()) {
    const int list = ready.back();
    ready.pop_back();
    if (depths[list] > kMaxListNesting) {
      validation.Add(validation.List(list),
                     absl::StrCat("is nested more than ", kMaxListNesting,
                                  " lists deep; put actions of several lists "
                                  "into one"));
      return;
    }
    for (const int successor : nested[list]) {
      depths[successor] = std::max(depths[successor], depths[list] + 1);
      if (--callers[successor] == 0) ready.push_back(successor);
    }
  }
}

void CheckRecursion(const TestValidation& validation) {
  const std::vector<FlowEdge> edges =
      FlowEdges(validation.test(), validation.names());
  std::set<int> reported;
  const Graph nested = GraphOf(validation, edges, [](const FlowEdge& edge) {
    return edge.rpc == kNone;
  });
  CheckNesting(validation, nested);
  for (const std::vector<int>& component : CyclicComponents(nested)) {
    reported.insert(component.begin(), component.end());
    validation.Add(
        validation.List(component[0]),
        absl::StrCat("runs itself",
                     ByWayOf(validation, ShortestCycle(nested, component)),
                     "; use iterations to repeat actions"));
  }
  const Graph certain = GraphOf(validation, edges, [](const FlowEdge& edge) {
    return !edge.conditional;
  });
  for (const std::vector<int>& component : CyclicComponents(certain)) {
    if (std::any_of(component.begin(), component.end(),
                    [&](int list) { return reported.count(list) > 0; }) ||
        EndsAtGridEdge(validation, edges, component)) {
      continue;
    }
    validation.Add(
        validation.List(component[0]),
        absl::StrCat("its RPCs lead back to it endlessly",
                     ByWayOf(validation, ShortestCycle(certain, component)),
                     "; give one of these actions a predicate whose "
                     "probability is below 1"));
  }
}

}  // namespace

void ValidateFlow(const TestValidation& validation) {
  CheckCallers(validation);
  CheckRecursion(validation);
}

}  // namespace distbench::config
