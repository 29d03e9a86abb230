#include "distbench/products/blame/critical_path.h"

#include <algorithm>

namespace distbench::blame {
namespace {

// The children of a call on the path, the last one first.
std::vector<int> ChildrenOnPath(const RequestTree& tree, const Call& call) {
  std::vector<int> children = call.children;
  std::stable_sort(children.begin(), children.end(), [&](int a, int b) {
    return tree.calls[a].end_ns > tree.calls[b].end_ns;
  });
  std::vector<int> on_path;
  int64_t time_ns = call.end_ns;
  for (const int child : children) {
    if (tree.calls[child].end_ns > time_ns) continue;
    on_path.push_back(child);
    time_ns = tree.calls[child].start_ns;
  }
  return on_path;
}

// Divides the own time of a call. The handler's part is what the others leave.
void Divide(const Call& call, int64_t own_ns, std::vector<PathTime>& times) {
  const auto add = [&](BlamePart part, int64_t time_ns) {
    if (time_ns > 0) times.push_back({call.rpc, call.server, part, time_ns});
  };
  if (!call.waits.has_value()) return add(BlamePart::kUndivided, own_ns);
  const int64_t queue_ns = std::min(call.waits->server_queue_ns, own_ns);
  const int64_t network_ns =
      std::min(call.waits->network_ns, own_ns - queue_ns);
  add(BlamePart::kNetwork, network_ns);
  add(BlamePart::kServerQueue, queue_ns);
  add(BlamePart::kServerHandler, own_ns - queue_ns - network_ns);
}

}  // namespace

std::vector<PathStep> CriticalPath(const RequestTree& tree) {
  std::vector<PathStep> steps = {{0, tree.calls.front().duration_ns()}};
  for (size_t i = 0; i < steps.size(); ++i) {
    for (const int child : ChildrenOnPath(tree, tree.calls[steps[i].call])) {
      steps[i].own_ns -= tree.calls[child].duration_ns();
      steps.push_back({child, tree.calls[child].duration_ns()});
    }
  }
  return steps;
}

absl::string_view NameOf(BlamePart part) {
  switch (part) {
    case BlamePart::kLateness:
      return "lateness";
    case BlamePart::kNetwork:
      return "network";
    case BlamePart::kServerQueue:
      return "server_queue";
    case BlamePart::kServerHandler:
      return "server_handler";
    case BlamePart::kUndivided:
      return "undivided";
  }
  return "";
}

std::vector<PathTime> TimesOnPath(const RequestTree& tree) {
  std::vector<PathTime> times;
  if (tree.lateness_ns > 0) {
    times.push_back({tree.calls.front().rpc, tree.client, BlamePart::kLateness,
                     tree.lateness_ns});
  }
  for (const PathStep& step : CriticalPath(tree)) {
    Divide(tree.calls[step.call], step.own_ns, times);
  }
  return times;
}

}  // namespace distbench::blame
