#include "distbench/config/validate/flow_graph.h"

#include <algorithm>
#include <deque>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace distbench::config {
namespace {

constexpr int kUnvisited = -1;

// Tarjan's algorithm with an explicit stack, because graphs may be as deep as a
// config is long.
class ComponentFinder {
 public:
  explicit ComponentFinder(const Graph& graph)
      : graph_(graph),
        order_(graph.size(), kUnvisited),
        lowest_(graph.size()),
        open_(graph.size(), false) {}

  std::vector<std::vector<int>> Find() {
    for (int node = 0; node < graph_.size(); ++node) {
      if (order_[node] == kUnvisited) VisitFrom(node);
    }
    std::sort(components_.begin(), components_.end());
    return std::move(components_);
  }

 private:
  struct Visit {
    int node;
    int next_edge;
  };

  void VisitFrom(int root) {
    std::vector<Visit> visits;
    Enter(root, visits);
    while (!visits.empty()) {
      const int node = visits.back().node;
      const std::vector<int>& successors = graph_[node];
      if (visits.back().next_edge == successors.size()) {
        visits.pop_back();
        if (!visits.empty()) Lower(visits.back().node, lowest_[node]);
        Leave(node);
        continue;
      }
      const int successor = successors[visits.back().next_edge++];
      if (order_[successor] == kUnvisited) {
        Enter(successor, visits);
      } else if (open_[successor]) {
        Lower(node, order_[successor]);
      }
    }
  }

  void Enter(int node, std::vector<Visit>& visits) {
    order_[node] = lowest_[node] = next_order_++;
    open_[node] = true;
    stack_.push_back(node);
    visits.push_back({node, 0});
  }

  void Lower(int node, int order) {
    lowest_[node] = std::min(lowest_[node], order);
  }

  // If no later node reaches an earlier one, these nodes form a component.
  void Leave(int node) {
    if (lowest_[node] != order_[node]) return;
    std::vector<int> component;
    do {
      component.push_back(stack_.back());
      open_[stack_.back()] = false;
      stack_.pop_back();
    } while (component.back() != node);
    if (component.size() > 1 || HasLoop(node)) {
      std::sort(component.begin(), component.end());
      components_.push_back(std::move(component));
    }
  }

  bool HasLoop(int node) const {
    return std::find(graph_[node].begin(), graph_[node].end(), node) !=
           graph_[node].end();
  }

  const Graph& graph_;
  std::vector<int> order_;   // of the first visit
  std::vector<int> lowest_;  // order of a node that can be reached
  std::vector<bool> open_;   // on stack_
  std::vector<int> stack_;
  int next_order_ = 0;
  std::vector<std::vector<int>> components_;
};

}  // namespace

std::vector<std::vector<int>> CyclicComponents(const Graph& graph) {
  return ComponentFinder(graph).Find();
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

}  // namespace distbench::config
