// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/blame/stragglers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "distbench/stats/distributions.h"

namespace distbench::blame {
namespace {

constexpr double kNotableRatio = 1.5;
constexpr double kOwnDoing = 0.5;

// How often an instance was the last of the targets of a fanout.
struct LastCount {
  int64_t fanout_count = 0;  // to this instance and others
  int64_t last_count = 0;
  double expected_count = 0;

  // By block of requests: how much more often than expected.
  BlockAmounts beyond = {};

  void Add(double chance, bool is_last, size_t block) {
    ++fanout_count;
    last_count += is_last;
    expected_count += chance;
    beyond[block] += static_cast<double>(is_last) - chance;
  }

  void Report(double error_probability, ReportedBlame::LastCount& shown) const {
    shown.set_fanout_count(fanout_count);
    shown.set_last_count(last_count);
    shown.set_expected_count(expected_count);
    if (fanout_count == 0) return;
    shown.set_most_by_chance(stats::BinomialQuantile(
        fanout_count, expected_count / static_cast<double>(fanout_count),
        1 - error_probability));
    shown.set_is_straggler(
        last_count > shown.most_by_chance() &&
        static_cast<double>(last_count) >= kNotableRatio * expected_count &&
        IsThroughout(static_cast<double>(last_count) - expected_count, beyond,
                     error_probability));
  }
};

struct TargetCounts {
  LastCount of_all;
  LastCount of_tail;

  // In the tail, if there is one, on critical paths: all time, and what it
  // spent by itself.
  double time_ns = 0;
  double own_ns = 0;
};

class Counter {
 public:
  explicit Counter(bool has_tail) : has_tail_(has_tail) {}

  void Add(const RequestTree& tree, bool is_tail, size_t block) {
    if (is_tail) tail_ns_ += static_cast<double>(tree.total_ns());
    std::vector<bool> on_path(tree.calls.size());
    for (const PathStep& step : CriticalPath(tree)) {
      on_path[step.call] = true;
      const Call& call = tree.calls[step.call];
      TargetCounts& counts = counts_[{call.rpc, call.server}];
      if (has_tail_ && !is_tail) continue;
      counts.time_ns += static_cast<double>(call.duration_ns());
      counts.own_ns += static_cast<double>(step.own_ns);
    }
    std::map<int, std::vector<int>> fanouts;
    for (size_t i = 1; i < tree.calls.size(); ++i) {
      fanouts[tree.calls[i].fanout].push_back(static_cast<int>(i));
    }
    for (const auto& [number, targets] : fanouts) {
      const int parent = tree.calls[targets.front()].parent;
      Count(tree, targets, is_tail && on_path[parent], block);
    }
  }

  // Returns what is reported of all targets of fanouts.
  std::vector<ReportedBlame::Straggler> Judge(const TracedRequests& requests) {
    std::erase_if(counts_, [](const auto& entry) {
      return entry.second.of_all.fanout_count == 0;
    });
    // Two tests for each instance.
    const double error_probability =
        kErrorOfStragglers / (2 * static_cast<double>(counts_.size()));
    std::vector<ReportedBlame::Straggler> stragglers;
    for (const auto& [target, counts] : counts_) {
      ReportedBlame::Straggler& straggler = stragglers.emplace_back();
      straggler.set_rpc(requests.rpcs[target.first]);
      straggler.set_instance(requests.instances[target.second]);
      counts.of_all.Report(error_probability, *straggler.mutable_all());
      counts.of_tail.Report(error_probability, *straggler.mutable_tail());
      if (counts.time_ns > 0) {
        straggler.set_own_share(counts.own_ns / counts.time_ns);
        if (has_tail_) straggler.set_tail_share(counts.own_ns / tail_ns_);
      }
      straggler.set_is_to_blame(
          (straggler.all().is_straggler() || straggler.tail().is_straggler()) &&
          straggler.own_share() >= kOwnDoing);
    }
    return stragglers;
  }

 private:
  // Counts a fanout, unless two targets ended together.
  void Count(const RequestTree& tree, const std::vector<int>& targets,
             bool is_awaited, size_t block) {
    const auto end_of = [&](int target) { return tree.calls[target].end_ns; };
    int64_t last_ns = 0;
    for (const int target : targets) {
      last_ns = std::max(last_ns, end_of(target));
    }
    if (targets.size() < 2 ||
        std::count_if(targets.begin(), targets.end(), [&](int target) {
          return end_of(target) == last_ns;
        }) > 1) {
      return;
    }
    const double chance = 1 / static_cast<double>(targets.size());
    for (const int target : targets) {
      const Call& call = tree.calls[target];
      TargetCounts& counts = counts_[{call.rpc, call.server}];
      const bool is_last = end_of(target) == last_ns;
      counts.of_all.Add(chance, is_last, block);
      if (is_awaited) counts.of_tail.Add(chance, is_last, block);
    }
  }

  const bool has_tail_;
  std::map<std::pair<int, int>, TargetCounts> counts_;  // by RPC and instance
  double tail_ns_ = 0;  // the time of all requests in the tail
};

}  // namespace

bool IsThroughout(double amount, const BlockAmounts& added,
                  double error_probability) {
  double squares = 0;
  for (const double in_block : added) squares += in_block * in_block;
  return amount >
         std::sqrt(squares) * stats::NormalQuantile(1 - error_probability);
}

std::vector<ReportedBlame::Straggler> FindStragglers(
    const TracedRequests& requests, const TailWindow& tail) {
  Counter counter(!tail.trees.empty());
  const size_t count = requests.trees.size();
  for (size_t i = 0; i < count; ++i) {
    const bool is_tail = std::binary_search(
        tail.trees.begin(), tail.trees.end(), static_cast<int>(i));
    counter.Add(requests.trees[i], is_tail, BlockOf(i, count));
  }
  std::vector<ReportedBlame::Straggler> stragglers = counter.Judge(requests);
  std::stable_sort(
      stragglers.begin(), stragglers.end(), [](const auto& a, const auto& b) {
        const auto rank = [](const ReportedBlame::Straggler& straggler) {
          return std::tuple(straggler.is_to_blame(),
                            straggler.tail().last_count(),
                            straggler.all().last_count());
        };
        return rank(a) > rank(b);
      });
  return stragglers;
}

}  // namespace distbench::blame
