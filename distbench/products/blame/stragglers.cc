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

// A target of fanouts: what is reported of it, and what that comes from.
struct Target {
  ReportedBlame::Straggler reported;

  // By block of requests: how much more often than expected it was the last of
  // a fanout; in all, and in those that requests in the tail waited for.
  BlockAmounts beyond_in_all = {};
  BlockAmounts beyond_in_tail = {};

  // In the tail, if there is one, on critical paths: all time, and what it
  // spent by itself.
  double time_ns = 0;
  double own_ns = 0;
};

using Targets = std::map<std::pair<int, int>, Target>;  // by RPC and instance

void Add(double chance, bool is_last, double& beyond,
         ReportedBlame::LastCount& count) {
  count.set_fanout_count(count.fanout_count() + 1);
  count.set_last_count(count.last_count() + (is_last ? 1 : 0));
  count.set_expected_count(count.expected_count() + chance);
  beyond += (is_last ? 1 : 0) - chance;
}

// Counts a fanout, unless two of its calls ended together.
void CountFanout(const RequestTree& tree, std::vector<int> calls,
                 bool is_awaited, size_t block, Targets& targets) {
  if (calls.size() < 2) return;
  const auto end_of = [&](int call) { return tree.calls[call].end_ns; };
  std::partial_sort(calls.begin(), calls.begin() + 2, calls.end(),
                    [&](int a, int b) { return end_of(a) > end_of(b); });
  if (end_of(calls[0]) == end_of(calls[1])) return;
  const double chance = 1 / static_cast<double>(calls.size());
  for (const int position : calls) {
    const Call& call = tree.calls[position];
    Target& target = targets[{call.rpc, call.server}];
    const bool is_last = position == calls.front();
    Add(chance, is_last, target.beyond_in_all[block],
        *target.reported.mutable_all());
    if (!is_awaited) continue;
    Add(chance, is_last, target.beyond_in_tail[block],
        *target.reported.mutable_tail());
  }
}

// Counts the fanouts of a request, and the time of its calls if it says whose
// doing that is.
void CountRequest(const RequestTree& tree, bool is_tail, bool is_timed,
                  size_t block, Targets& targets) {
  std::vector<bool> on_path(tree.calls.size());
  for (const PathStep& step : CriticalPath(tree)) {
    on_path[step.call] = true;
    if (!is_timed) continue;
    const Call& call = tree.calls[step.call];
    Target& target = targets[{call.rpc, call.server}];
    target.time_ns += static_cast<double>(call.duration_ns());
    target.own_ns += static_cast<double>(step.own_ns);
  }
  std::map<int, std::vector<int>> fanouts;
  for (size_t i = 1; i < tree.calls.size(); ++i) {
    fanouts[tree.calls[i].fanout].push_back(static_cast<int>(i));
  }
  for (const auto& [number, calls] : fanouts) {
    const bool is_awaited = on_path[tree.calls[calls.front()].parent];
    CountFanout(tree, calls, is_tail && is_awaited, block, targets);
  }
}

void Judge(const BlockAmounts& beyond, double error_probability,
           ReportedBlame::LastCount& count) {
  if (count.fanout_count() == 0) return;
  const auto last = static_cast<double>(count.last_count());
  const double expected = count.expected_count();
  count.set_most_by_chance(stats::BinomialQuantile(
      count.fanout_count(),
      expected / static_cast<double>(count.fanout_count()),
      1 - error_probability));
  count.set_is_straggler(
      count.last_count() > count.most_by_chance() &&
      last >= kNotableRatio * expected &&
      IsThroughout(last - expected, beyond, error_probability));
}

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
  const bool has_tail = !tail.trees.empty();
  const size_t count = requests.trees.size();
  Targets targets;
  double tail_ns = 0;
  for (size_t i = 0; i < count; ++i) {
    const RequestTree& tree = requests.trees[i];
    const bool is_tail = std::binary_search(
        tail.trees.begin(), tail.trees.end(), static_cast<int>(i));
    if (is_tail) tail_ns += static_cast<double>(tree.total_ns());
    CountRequest(tree, is_tail, is_tail || !has_tail, BlockOf(i, count),
                 targets);
  }
  std::erase_if(targets, [](const auto& target) {
    return target.second.reported.all().fanout_count() == 0;
  });
  // Two tests for each instance.
  const double error_probability =
      kErrorOfStragglers / (2 * static_cast<double>(targets.size()));
  std::vector<ReportedBlame::Straggler> stragglers;
  for (auto& [names, target] : targets) {
    ReportedBlame::Straggler& straggler = target.reported;
    straggler.set_rpc(requests.rpcs[names.first]);
    straggler.set_instance(requests.instances[names.second]);
    Judge(target.beyond_in_all, error_probability, *straggler.mutable_all());
    Judge(target.beyond_in_tail, error_probability, *straggler.mutable_tail());
    if (target.time_ns > 0) {
      straggler.set_own_share(target.own_ns / target.time_ns);
      if (has_tail) straggler.set_tail_share(target.own_ns / tail_ns);
    }
    straggler.set_is_to_blame(
        (straggler.all().is_straggler() || straggler.tail().is_straggler()) &&
        straggler.own_share() >= kOwnDoing);
    stragglers.push_back(std::move(straggler));
  }
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
