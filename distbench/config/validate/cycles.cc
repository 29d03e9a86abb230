#include "distbench/config/validate/cycles.h"

#include <algorithm>
#include <deque>
#include <utility>

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

}  // namespace distbench::config
