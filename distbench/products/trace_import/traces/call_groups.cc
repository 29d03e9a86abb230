#include "distbench/products/trace_import/traces/call_groups.h"

#include <algorithm>
#include <limits>
#include <set>

namespace distbench::trace_import {
namespace {

// The calls of one RPC by one execution.
struct Calls {
  int count = 0;
  int64_t first_start_ns = std::numeric_limits<int64_t>::max();
  int64_t last_end_ns = 0;
  int64_t overlapping = 0;  // with an earlier one
};

}  // namespace

void CallGroupCounter::Add(const Trace& trace, int position,
                           const std::vector<int>& rpcs) {
  ++executions_;
  std::map<int, Calls> calls;
  for (const int child : trace[position].children) {
    Calls& group = calls[rpcs[child]];
    const TracedCall& call = trace[child];
    if (group.count > 0 && call.start_ns < group.last_end_ns) {
      ++group.overlapping;
    }
    ++group.count;
    group.first_start_ns = std::min(group.first_start_ns, call.start_ns);
    group.last_end_ns = std::max(group.last_end_ns, call.end_ns);
  }
  for (const auto& [rpc, group] : calls) {
    Counted& counted = counted_[rpc];
    ++counted.counts[group.count];
    ++counted.executions;
    counted.pairs += group.count - 1;
    counted.overlapping_pairs += group.overlapping;
    counted.start_ns +=
        static_cast<double>(group.first_start_ns - trace[position].start_ns);
    for (const auto& [other, other_group] : calls) {
      if (other == rpc) continue;
      Order& order = order_[{rpc, other}];
      ++order.executions;
      order.first_ended += group.last_end_ns <= other_group.first_start_ns;
    }
  }
}

bool CallGroupCounter::Precedes(int first, int second) const {
  const auto order = order_.find({first, second});
  return order != order_.end() &&
         2 * order->second.first_ended > order->second.executions;
}

std::vector<CallGroup> CallGroupCounter::Groups() const {
  std::vector<std::pair<double, int>> by_start;
  for (const auto& [rpc, counted] : counted_) {
    by_start.push_back(
        {counted.start_ns / static_cast<double>(counted.executions), rpc});
  }
  std::sort(by_start.begin(), by_start.end());
  std::vector<CallGroup> groups;
  std::vector<std::set<int>> all_before(by_start.size());
  for (const auto& [start_ns, rpc] : by_start) {
    const Counted& counted = counted_.at(rpc);
    CallGroup group = {.rpc = rpc, .counts = counted.counts};
    if (counted.executions < executions_) {
      group.counts[0] = executions_ - counted.executions;
    }
    group.is_parallel = 2 * counted.overlapping_pairs > counted.pairs;
    std::set<int>& before = all_before[groups.size()];
    // Later ones first, because earlier ones follow from them.
    for (int i = static_cast<int>(groups.size()) - 1; i >= 0; --i) {
      if (before.count(i) > 0 || !Precedes(groups[i].rpc, rpc)) continue;
      group.after.insert(group.after.begin(), i);
      before.insert(i);
      before.insert(all_before[i].begin(), all_before[i].end());
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace distbench::trace_import
