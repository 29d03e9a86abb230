#include "distbench/config/validate/flow_graph.h"

#include <deque>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace distbench::config {
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

}  // namespace distbench::config
