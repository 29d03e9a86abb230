// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/blame/critical_path.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "distbench/stats/quantile_interval.h"
#include "distbench/stats/ratio_error.h"
#include "distbench/stats/run_interval.h"

namespace distbench::blame {
namespace {

constexpr double kConfidence = 0.95;
constexpr double kWidestWindow = 0.05;
constexpr int kFewestTrees = 30;

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
void Divide(const Call& call, int64_t own_ns, PathTimes& times) {
  if (!call.waits.has_value()) {
    times[{call.rpc, BlamePart::kUndivided}] += own_ns;
    return;
  }
  const int64_t queue_ns = std::min(call.waits->server_queue_ns, own_ns);
  const int64_t network_ns =
      std::min(call.waits->network_ns, own_ns - queue_ns);
  times[{call.rpc, BlamePart::kNetwork}] += network_ns;
  times[{call.rpc, BlamePart::kServerQueue}] += queue_ns;
  times[{call.rpc, BlamePart::kServerHandler}] +=
      own_ns - queue_ns - network_ns;
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

PathTimes TimesOnPath(const RequestTree& tree) {
  PathTimes times;
  times[{tree.calls.front().rpc, BlamePart::kLateness}] = tree.lateness_ns;
  for (const PathStep& step : CriticalPath(tree)) {
    Divide(tree.calls[step.call], step.own_ns, times);
  }
  std::erase_if(times, [](const auto& time) { return time.second == 0; });
  return times;
}

std::vector<TailWindow> WindowsOf(const TracedRequests& requests) {
  std::vector<int> order(requests.trees.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return requests.trees[a].total_ns() < requests.trees[b].total_ns();
  });
  const auto count = static_cast<double>(order.size());
  std::vector<TailWindow> windows;
  for (const double quantile : kBlamedQuantiles) {
    const double half = std::min(kWidestWindow, 1 - quantile);
    TailWindow& window = windows.emplace_back();
    window.needed_count = std::llround(kFewestTrees / (2 * half));
    if (static_cast<int64_t>(order.size()) < window.needed_count) continue;
    const int64_t from = std::llround((quantile - half) * count);
    const int64_t to = std::llround((quantile + half) * count);
    window.trees.assign(order.begin() + from, order.begin() + to);
    std::sort(window.trees.begin(), window.trees.end());
  }
  return windows;
}

namespace {

// The times of the requests of a window, in its order: in all, and by part.
struct WindowTimes {
  std::vector<double> totals_ns;
  std::map<PathTimes::key_type, std::vector<double>> parts_ns;
};

WindowTimes TimesIn(const TracedRequests& requests, const TailWindow& window) {
  WindowTimes times;
  for (const int position : window.trees) {
    const RequestTree& tree = requests.trees[position];
    for (const auto& [part, time_ns] : TimesOnPath(tree)) {
      std::vector<double>& of_part = times.parts_ns[part];
      of_part.resize(window.trees.size());
      of_part[times.totals_ns.size()] = static_cast<double>(time_ns);
    }
    times.totals_ns.push_back(static_cast<double>(tree.total_ns()));
  }
  return times;
}

struct Estimate {
  double value = 0;
  double half_width = 0;
};

// The share that a part has in the time of requests beyond `usual_total_ns`
// each, of which `usual_ns` is the part's.
std::optional<Estimate> ShareBeyond(const std::vector<double>& part_ns,
                                    double usual_ns,
                                    const std::vector<double>& totals_ns,
                                    double usual_total_ns) {
  std::vector<stats::BlockAmount> blocks(stats::kMaxBlocks, {0, 0});
  const size_t count = totals_ns.size();
  for (size_t i = 0; i < count; ++i) {
    stats::BlockAmount& block = blocks[i * blocks.size() / count];
    block.amount += part_ns[i] - usual_ns;
    block.count += totals_ns[i] - usual_total_ns;
  }
  const stats::BlockAmount sum = stats::SumOf(blocks);
  // Less than a nanosecond for each request is rounding.
  if (sum.count <= static_cast<double>(count)) return std::nullopt;
  return Estimate{sum.amount / sum.count,
                  stats::HalfWidthOfRatio(blocks, kConfidence)};
}

// Reports the shares in a window, and in what is longer than in that of the
// median, if there is one.
ReportedBlame::Quantile Report(const TracedRequests& requests,
                               WindowTimes window, const WindowTimes* median) {
  ReportedBlame::Quantile quantile;
  const std::vector<double>& totals_ns = window.totals_ns;
  quantile.set_mean_ns(stats::Mean(totals_ns));
  // What only the median has is a part of what is longer, too.
  if (median != nullptr) {
    for (const auto& [part, times_ns] : median->parts_ns) {
      window.parts_ns[part].resize(totals_ns.size());
    }
  }
  for (const auto& [part, times_ns] : window.parts_ns) {
    const auto of_time = ShareBeyond(times_ns, 0, totals_ns, 0);
    if (!of_time.has_value()) continue;
    ReportedBlame::BlameShare& share = *quantile.add_shares();
    share.set_rpc(requests.rpcs[part.first]);
    share.set_part(std::string(kPartNames[static_cast<int>(part.second)]));
    share.set_share(of_time->value);
    share.set_share_lower(std::max(0.0, of_time->value - of_time->half_width));
    share.set_share_upper(std::min(1.0, of_time->value + of_time->half_width));
    if (median == nullptr) continue;
    const auto usual = median->parts_ns.find(part);
    const auto of_excess = ShareBeyond(
        times_ns,
        usual == median->parts_ns.end() ? 0 : stats::Mean(usual->second),
        totals_ns, stats::Mean(median->totals_ns));
    if (!of_excess.has_value()) continue;
    share.set_excess(of_excess->value);
    share.set_excess_lower(of_excess->value - of_excess->half_width);
    share.set_excess_upper(of_excess->value + of_excess->half_width);
  }
  std::stable_sort(
      quantile.mutable_shares()->begin(), quantile.mutable_shares()->end(),
      [](const auto& a, const auto& b) { return a.share() > b.share(); });
  return quantile;
}

}  // namespace

std::vector<ReportedBlame::Quantile> SharesIn(
    const TracedRequests& requests, const std::vector<TailWindow>& windows) {
  const WindowTimes median = TimesIn(requests, windows[kMedian]);
  std::vector<ReportedBlame::Quantile> quantiles;
  for (size_t i = 0; i < windows.size(); ++i) {
    ReportedBlame::Quantile& quantile = quantiles.emplace_back();
    if (!windows[i].trees.empty()) {
      // The median needs the fewest traces, so the others have one.
      quantile = Report(requests, TimesIn(requests, windows[i]),
                        i == kMedian ? nullptr : &median);
    }
    quantile.set_percentile(100 * kBlamedQuantiles[i]);
    quantile.set_trace_count(static_cast<int64_t>(windows[i].trees.size()));
    quantile.set_needed_count(windows[i].needed_count);
  }
  return quantiles;
}

const ReportedBlame::BlameShare* MainCause(
    const ReportedBlame::Quantile& quantile) {
  for (const ReportedBlame::BlameShare& share : quantile.shares()) {
    if (share.excess_lower() > 0.5) return &share;
  }
  return nullptr;
}

}  // namespace distbench::blame
