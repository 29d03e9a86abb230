// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/validate/flow_graph.h"

#include <algorithm>
#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "distbench/config/problems/suggest.h"
#include "distbench/config/syntax/fanout_filter.h"
#include "distbench/config/validate/validators.h"

namespace distbench::config {
namespace {

constexpr int kUnvisited = -1;

// Appends what can be reached from the root by nodes that were not visited, and
// the root itself: each node after the successors that it was the first to
// reach. Does not recurse, because graphs may be as deep as a config is long.
void Visit(const Graph& graph, int root, std::vector<bool>& visited,
           std::vector<int>& order) {
  struct Step {
    int node;
    size_t next_edge;
  };
  std::vector<Step> path = {{root, 0}};
  visited[root] = true;
  while (!path.empty()) {
    Step& step = path.back();
    if (step.next_edge == graph[step.node].size()) {
      order.push_back(step.node);
      path.pop_back();
      continue;
    }
    const int successor = graph[step.node][step.next_edge++];
    if (visited[successor]) continue;
    visited[successor] = true;
    path.push_back({successor, 0});
  }
}

Graph Reversed(const Graph& graph) {
  Graph reversed(graph.size());
  for (int node = 0; node < graph.size(); ++node) {
    for (const int successor : graph[node]) reversed[successor].push_back(node);
  }
  return reversed;
}

}  // namespace

// Kosaraju's algorithm: from the last node of the order to the first, whatever
// reaches a node and is in no component yet can also be reached from it.
std::vector<std::vector<int>> CyclicComponents(const Graph& graph) {
  std::vector<bool> visited(graph.size(), false);
  std::vector<int> order;
  for (int node = 0; node < graph.size(); ++node) {
    if (!visited[node]) Visit(graph, node, visited, order);
  }
  const Graph reversed = Reversed(graph);
  visited.assign(graph.size(), false);
  std::reverse(order.begin(), order.end());
  std::vector<std::vector<int>> components;
  for (const int node : order) {
    if (visited[node]) continue;
    std::vector<int> component;
    Visit(reversed, node, visited, component);
    const bool has_loop =
        std::count(graph[node].begin(), graph[node].end(), node) > 0;
    if (component.size() == 1 && !has_loop) continue;
    std::sort(component.begin(), component.end());
    components.push_back(std::move(component));
  }
  std::sort(components.begin(), components.end());
  return components;
}

std::vector<int> ShortestCycle(const Graph& graph,
                               const std::vector<int>& component) {
  const int start = component.front();
  std::vector<int> previous(graph.size(), kUnvisited);
  std::deque<int> frontier = {start};
  while (!frontier.empty()) {
    const int node = frontier.front();
    frontier.pop_front();
    for (const int successor : graph[node]) {
      if (successor == start) {
        std::vector<int> cycle;
        for (int i = node; i != start; i = previous[i]) cycle.push_back(i);
        cycle.push_back(start);
        std::reverse(cycle.begin(), cycle.end());
        return cycle;
      }
      if (previous[successor] != kUnvisited) continue;
      previous[successor] = node;
      frontier.push_back(successor);
    }
  }
  return {};
}

namespace {

// Whether the predicate, with its sign, may be false in this list.
bool MayFail(const ActionList& list, absl::string_view predicate) {
  const bool expected = !absl::ConsumePrefix(&predicate, "!");
  const auto& probabilities = list.predicate_probabilities();
  const auto it = probabilities.find(std::string(predicate));
  if (it == probabilities.end()) return false;
  return expected ? it->second < 1 : it->second > 0;
}

// The list that an action runs, and the RPC that runs it.
struct Target {
  int list;
  int rpc;
};

Target TargetOf(const TestNames& names, const Action& action) {
  if (action.has_action_list_name()) {
    return {names.lists.Find(action.action_list_name()), kNone};
  }
  if (action.has_rpc_name()) {
    return {names.lists.Find(action.rpc_name()),
            names.rpcs.Find(action.rpc_name())};
  }
  return {kNone, kNone};
}

void AddEdgesOf(const DistributedSystemDescription& test,
                const TestNames& names, int list_index,
                std::vector<FlowEdge>& edges) {
  const ActionList& list = test.action_lists(list_index);
  // Actions that may be skipped. Their dependents may be skipped as well.
  std::set<std::string> skippable;
  for (const std::string& name : list.action_names()) {
    const int index = names.actions.Find(name);
    if (index == kNone) continue;
    const Action& action = test.actions(index);
    bool conditional = false;
    for (const std::string& predicate : action.predicates()) {
      if (MayFail(list, predicate)) conditional = true;
    }
    for (const std::string& dependency : action.dependencies()) {
      if (skippable.count(dependency) > 0) conditional = true;
    }
    if (conditional) skippable.insert(name);
    const Target target = TargetOf(names, action);
    if (target.list == kNone) continue;
    edges.push_back({list_index, target.list, target.rpc, conditional});
  }
}

}  // namespace

std::vector<FlowEdge> FlowEdges(const DistributedSystemDescription& test,
                                const TestNames& names) {
  std::vector<FlowEdge> edges;
  for (int list = 0; list < test.action_lists_size(); ++list) {
    AddEdgesOf(test, names, list, edges);
  }
  return edges;
}

std::vector<ActionUse> ReachableUses(const DistributedSystemDescription& test,
                                     const TestNames& names) {
  using Run = std::pair<int, int>;  // list and service
  std::deque<Run> frontier;
  std::set<Run> runs;
  const auto add_run = [&](int list, int service) {
    if (list == kNone || service == kNone) return;
    if (runs.insert({list, service}).second)
      frontier.push_back({list, service});
  };
  for (int i = 0; i < test.services_size(); ++i) {
    add_run(names.lists.Find(test.services(i).name()), i);
  }
  std::vector<ActionUse> uses;
  std::set<ActionUse> seen;
  while (!frontier.empty()) {
    const auto [list, service] = frontier.front();
    frontier.pop_front();
    for (const std::string& name : test.action_lists(list).action_names()) {
      const ActionUse use = {names.actions.Find(name), list, service};
      if (use.action == kNone || !seen.insert(use).second) continue;
      uses.push_back(use);
      const Target target = TargetOf(names, test.actions(use.action));
      if (target.rpc == kNone) {
        add_run(target.list, service);
      } else {
        const RpcSpec& rpc = test.rpc_descriptions(target.rpc);
        add_run(target.list, names.services.Find(rpc.server()));
      }
    }
  }
  return uses;
}

// ---- What is wrong with the flow --------------------------------------------

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
  validation.Add(validation.Action(use.action).Field("rpc_name"), "service ",
                 Quoted(service), " runs this in action list ",
                 Quoted(test.action_lists(use.list).name()),
                 ", but is not a client of RPC ", Quoted(action.rpc_name()),
                 "; add client: ", Quoted(service), " to the RPC");
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
  validation.Add(validation.Action(use.action).Field("rpc_replay_trace_name"),
                 "service ", Quoted(service), " runs this in action list ",
                 Quoted(test.action_lists(use.list).name()),
                 ", but the client of the trace is ", Quoted(client),
                 "; run it there");
}

void CheckReceiver(const TestValidation& validation, const ActionUse& use) {
  const DistributedSystemDescription& test = validation.test();
  const Action& action = test.actions(use.action);
  const int index = validation.names().rpcs.Find(action.receive_rpc_name());
  if (!action.has_receive_rpc_name() || index == kNone) return;
  const std::string& service = test.services(use.service).name();
  const std::string& server = test.rpc_descriptions(index).server();
  // An undefined server is reported with the RPC.
  if (server == service || validation.names().services.Find(server) == kNone) {
    return;
  }
  validation.Add(validation.Action(use.action).Field("receive_rpc_name"),
                 "service ", Quoted(service), " runs this in action list ",
                 Quoted(test.action_lists(use.list).name()), ", but RPC ",
                 Quoted(action.receive_rpc_name()), " calls service ",
                 Quoted(server), "; receive it there");
}

// Checks each action once per service, however many lists contain it.
void CheckCallers(const TestValidation& validation) {
  std::set<std::pair<int, int>> checked;
  for (const ActionUse& use :
       ReachableUses(validation.test(), validation.names())) {
    if (!checked.insert({use.action, use.service}).second) continue;
    CheckCaller(validation, use);
    CheckReplayer(validation, use);
    CheckReceiver(validation, use);
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
      validation.Add(validation.List(list), "is nested more than ",
                     kMaxListNesting,
                     " lists deep; put actions of several lists into one");
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
    validation.Add(validation.List(component[0]), "runs itself",
                   ByWayOf(validation, ShortestCycle(nested, component)),
                   "; use iterations to repeat actions");
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
        validation.List(component[0]), "its RPCs lead back to it endlessly",
        ByWayOf(validation, ShortestCycle(certain, component)),
        "; give one of these actions a predicate whose probability is below 1");
  }
}

}  // namespace

void ValidateFlow(const TestValidation& validation) {
  CheckCallers(validation);
  CheckRecursion(validation);
}

}  // namespace distbench::config
