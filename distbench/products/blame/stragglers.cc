#include "distbench/products/blame/stragglers.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "distbench/products/blame/critical_path.h"
#include "distbench/stats/distributions.h"

namespace distbench::blame {
namespace {

constexpr double kErrorProbability = 0.05;
constexpr double kNotableRatio = 1.5;
constexpr double kOwnDoing = 0.5;

// RPC and instance.
using Target = std::pair<int, int>;

struct TargetCounts {
  LastCount of_all;
  LastCount of_tail;

  // On critical paths: of all requests, and of the tail.
  double own_ns = 0;
  double time_ns = 0;
  double tail_own_ns = 0;
  double tail_time_ns = 0;
};

class Counter {
 public:
  void Add(const RequestTree& tree, bool is_tail) {
    if (is_tail) tail_ns_ += static_cast<double>(tree.total_ns());
    std::vector<bool> on_path(tree.calls.size());
    for (const PathStep& step : CriticalPath(tree)) {
      on_path[step.call] = true;
      AddTime(tree.calls[step.call], step.own_ns, is_tail);
    }
    for (size_t i = 0; i < tree.calls.size(); ++i) {
      const bool is_awaited = is_tail && on_path[i];
      for (const auto& [fanout, targets] : FanoutsOf(tree, tree.calls[i])) {
        Count(tree, targets, is_awaited);
      }
    }
  }

  std::map<Target, TargetCounts> TakeCounts() { return std::move(counts_); }

  // The time of all requests in the tail.
  double tail_ns() const { return tail_ns_; }

 private:
  static std::map<int, std::vector<int>> FanoutsOf(const RequestTree& tree,
                                                   const Call& parent) {
    std::map<int, std::vector<int>> fanouts;
    for (const int child : parent.children) {
      fanouts[tree.calls[child].fanout].push_back(child);
    }
    return fanouts;
  }

  void AddTime(const Call& call, int64_t own_ns, bool is_tail) {
    TargetCounts& counts = counts_[{call.rpc, call.server}];
    const auto time_ns = static_cast<double>(call.duration_ns());
    counts.own_ns += static_cast<double>(own_ns);
    counts.time_ns += time_ns;
    if (!is_tail) return;
    counts.tail_own_ns += static_cast<double>(own_ns);
    counts.tail_time_ns += time_ns;
  }

  // Counts a fanout, unless two targets ended together.
  void Count(const RequestTree& tree, const std::vector<int>& targets,
             bool is_awaited) {
    if (targets.size() < 2) return;
    const auto end_of = [&](int target) { return tree.calls[target].end_ns; };
    const int last =
        *std::max_element(targets.begin(), targets.end(),
                          [&](int a, int b) { return end_of(a) < end_of(b); });
    const auto ended_last = std::count_if(
        targets.begin(), targets.end(),
        [&](int target) { return end_of(target) == end_of(last); });
    if (ended_last > 1) return;
    for (const int target : targets) {
      const Call& call = tree.calls[target];
      TargetCounts& counts = counts_[{call.rpc, call.server}];
      const double chance = 1 / static_cast<double>(targets.size());
      CountIn(counts.of_all, chance, target == last);
      if (is_awaited) CountIn(counts.of_tail, chance, target == last);
    }
  }

  static void CountIn(LastCount& count, double chance, bool is_last) {
    ++count.fanout_count;
    count.last_count += is_last;
    count.expected_count += chance;
  }

  std::map<Target, TargetCounts> counts_;
  double tail_ns_ = 0;
};

void Judge(double error_probability, LastCount& count) {
  if (count.fanout_count == 0) return;
  count.most_by_chance = stats::BinomialQuantile(
      count.fanout_count,
      count.expected_count / static_cast<double>(count.fanout_count),
      1 - error_probability);
  count.is_straggler = count.last_count > count.most_by_chance &&
                       static_cast<double>(count.last_count) >=
                           kNotableRatio * count.expected_count;
}

Straggler JudgeTarget(const Target& target, const TargetCounts& counts,
                      double error_probability) {
  Straggler straggler = {.rpc = target.first,
                         .instance = target.second,
                         .of_all = counts.of_all,
                         .of_tail = counts.of_tail};
  Judge(error_probability, straggler.of_all);
  Judge(error_probability, straggler.of_tail);
  const bool is_in_tail = counts.tail_time_ns > 0;
  const double time_ns = is_in_tail ? counts.tail_time_ns : counts.time_ns;
  const double own_ns = is_in_tail ? counts.tail_own_ns : counts.own_ns;
  if (time_ns > 0) straggler.own_share = own_ns / time_ns;
  straggler.is_to_blame =
      (straggler.of_all.is_straggler || straggler.of_tail.is_straggler) &&
      straggler.own_share >= kOwnDoing;
  return straggler;
}

}  // namespace

std::vector<Straggler> FindStragglers(const TracedRequests& requests,
                                      const TailWindow& tail) {
  Counter counter;
  const std::set<int> tail_trees(tail.trees.begin(), tail.trees.end());
  for (size_t i = 0; i < requests.trees.size(); ++i) {
    counter.Add(requests.trees[i], tail_trees.count(static_cast<int>(i)) > 0);
  }
  std::map<Target, TargetCounts> counts = counter.TakeCounts();
  std::erase_if(counts, [](const auto& entry) {
    return entry.second.of_all.fanout_count == 0;
  });
  // Two tests for each instance.
  const double error_probability =
      kErrorProbability / (2 * static_cast<double>(counts.size()));
  std::vector<Straggler> stragglers;
  for (const auto& [target, count] : counts) {
    stragglers.push_back(JudgeTarget(target, count, error_probability));
    if (counter.tail_ns() > 0) {
      stragglers.back().tail_share = count.tail_own_ns / counter.tail_ns();
    }
  }
  std::stable_sort(stragglers.begin(), stragglers.end(),
                   [](const Straggler& a, const Straggler& b) {
                     return std::tuple(a.is_to_blame, a.of_tail.last_count,
                                       a.of_all.last_count) >
                            std::tuple(b.is_to_blame, b.of_tail.last_count,
                                       b.of_all.last_count);
                   });
  return stragglers;
}

}  // namespace distbench::blame
