#include "distbench/products/blame/what_if.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "distbench/products/blame/tail_shares.h"

namespace distbench::blame {
namespace {

constexpr double kQuantile = 0.99;
constexpr uint64_t kSeed = 1;

// The durations of the RPC at the instances that `is_wanted` wants.
template <typename Wanted>
std::vector<int64_t> DurationsOf(const TracedRequests& requests, int rpc,
                                 Wanted is_wanted) {
  std::vector<int64_t> durations_ns;
  for (const RequestTree& tree : requests.trees) {
    for (const Call& call : tree.calls) {
      if (call.rpc == rpc && is_wanted(call.server)) {
        durations_ns.push_back(call.duration_ns());
      }
    }
  }
  return durations_ns;
}

int64_t MedianOf(std::vector<int64_t> values) {
  const auto median = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), median, values.end());
  return *median;
}

// Total times of the trees, in their order.
using Totals = std::vector<int64_t>;

Totals TotalsWith(const std::vector<Replay>& replays, const Remedy& remedy,
                  absl::FunctionRef<int64_t()> duration) {
  Totals totals_ns;
  for (const Replay& replay : replays) {
    totals_ns.push_back(replay.TotalNs([&](const Call& call) -> int64_t {
      const bool is_meant =
          call.rpc == remedy.rpc &&
          (remedy.instance < 0 || call.server == remedy.instance);
      return is_meant ? duration() : -1;
    }));
  }
  return totals_ns;
}

// The total times with the remedy; empty if there is nothing to draw from.
Totals Try(const TracedRequests& requests, const std::vector<Replay>& replays,
           const Remedy& remedy) {
  const bool is_for_all = remedy.instance < 0;
  const std::vector<int64_t> durations_ns = DurationsOf(
      requests, remedy.rpc,
      [&](int instance) { return is_for_all || instance != remedy.instance; });
  if (durations_ns.empty()) return {};
  if (is_for_all) {
    const int64_t median_ns = MedianOf(durations_ns);
    return TotalsWith(replays, remedy, [&] { return median_ns; });
  }
  std::mt19937_64 random(kSeed);
  return TotalsWith(replays, remedy, [&] {
    return durations_ns[random() % durations_ns.size()];
  });
}

// The p99 of total times, of which each was drawn several times or not at all.
class DrawnQuantile {
 public:
  explicit DrawnQuantile(Totals totals_ns) : totals_ns_(std::move(totals_ns)) {
    order_.resize(totals_ns_.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(),
              [&](int a, int b) { return totals_ns_[a] > totals_ns_[b]; });
  }

  double Of(const Multiplicities& drawn) const {
    const auto count = static_cast<int64_t>(order_.size());
    int64_t above =
        count - static_cast<int64_t>(static_cast<double>(count) * kQuantile);
    for (const int position : order_) {
      above -= drawn[position];
      if (above <= 0) return static_cast<double>(totals_ns_[position]);
    }
    return 0;
  }

 private:
  Totals totals_ns_;
  std::vector<int> order_;  // the longest first
};

}  // namespace

Replay::Replay(const RequestTree& tree)
    : tree_(tree), steps_(tree.calls.size()) {
  for (size_t i = 0; i < tree.calls.size(); ++i) {
    std::vector<Fanout>& fanouts = steps_[i].fanouts;
    std::map<int, size_t> positions;
    for (const int child : tree.calls[i].children) {
      const Call& call = tree.calls[child];
      const auto [position, is_new] =
          positions.emplace(call.fanout, fanouts.size());
      if (is_new) fanouts.push_back({call.start_ns, call.end_ns, {}});
      Fanout& fanout = fanouts[position->second];
      fanout.end_ns = std::max(fanout.end_ns, call.end_ns);
      fanout.calls.push_back(child);
    }
    std::vector<int>& by_end = steps_[i].by_end;
    by_end.resize(fanouts.size());
    std::iota(by_end.begin(), by_end.end(), 0);
    std::stable_sort(by_end.begin(), by_end.end(), [&](int a, int b) {
      return fanouts[a].end_ns < fanouts[b].end_ns;
    });
  }
}

int64_t Replay::TotalNs(
    absl::FunctionRef<int64_t(const Call&)> duration_of) const {
  std::vector<int64_t> durations_ns(tree_.calls.size());
  // Children come after their parents.
  for (int i = static_cast<int>(tree_.calls.size()) - 1; i >= 0; --i) {
    const int64_t given_ns = duration_of(tree_.calls[i]);
    durations_ns[i] = given_ns >= 0 ? given_ns : PlayHandler(i, durations_ns);
  }
  return tree_.lateness_ns + durations_ns.front();
}

// Times are since the start of the call.
int64_t Replay::PlayHandler(int position,
                            absl::Span<const int64_t> durations_ns) const {
  const Call& call = tree_.calls[position];
  const auto& [fanouts, by_end] = steps_[position];
  std::vector<int64_t> ends_ns(fanouts.size());
  int64_t end_before_ns = call.start_ns;  // in the request
  int64_t end_ns = 0;                     // in the replay
  size_t ended = 0;
  for (size_t i = 0; i < fanouts.size(); ++i) {
    const Fanout& fanout = fanouts[i];
    // An RPC without duration may have ended before it is its turn.
    while (static_cast<size_t>(by_end[ended]) < i &&
           fanouts[by_end[ended]].end_ns <= fanout.start_ns) {
      end_before_ns = fanouts[by_end[ended]].end_ns;
      end_ns = std::max(end_ns, ends_ns[by_end[ended]]);
      ++ended;
    }
    const int64_t start_ns = end_ns + fanout.start_ns - end_before_ns;
    for (const int child : fanout.calls) {
      const int64_t delay_ns = tree_.calls[child].start_ns - fanout.start_ns;
      ends_ns[i] =
          std::max(ends_ns[i], start_ns + delay_ns + durations_ns[child]);
    }
  }
  if (fanouts.empty()) return call.duration_ns();
  const int64_t last_ns = *std::max_element(ends_ns.begin(), ends_ns.end());
  return last_ns + call.end_ns - fanouts[by_end.back()].end_ns;
}

WhatIfs TryRemedies(const TracedRequests& requests,
                    absl::Span<const Remedy> remedies) {
  const std::vector<Replay> replays(requests.trees.begin(),
                                    requests.trees.end());
  Totals recorded_ns;
  for (const RequestTree& tree : requests.trees) {
    recorded_ns.push_back(tree.total_ns());
  }
  const DrawnQuantile now(std::move(recorded_ns));
  std::vector<Remedy> tried;
  std::vector<DrawnQuantile> then;
  for (const Remedy& remedy : remedies) {
    Totals totals_ns = Try(requests, replays, remedy);
    if (totals_ns.empty()) continue;
    tried.push_back(remedy);
    then.emplace_back(std::move(totals_ns));
  }
  std::vector<double> now_ns;
  std::vector<std::vector<double>> then_ns(tried.size());
  std::vector<std::vector<double>> savings(tried.size());
  VisitDraws(requests.trees.size(), kSeed, [&](const Multiplicities& drawn) {
    now_ns.push_back(now.Of(drawn));
    for (size_t i = 0; i < tried.size(); ++i) {
      then_ns[i].push_back(then[i].Of(drawn));
      savings[i].push_back(1 -
                           then_ns[i].back() / std::max(now_ns.back(), 1.0));
    }
  });
  WhatIfs what_ifs = {.now_ns = DrawnEstimate(std::move(now_ns))};
  for (size_t i = 0; i < tried.size(); ++i) {
    const BlameEstimate saving = DrawnEstimate(std::move(savings[i]));
    if (saving.lower < kWorthwhileSaving) continue;
    what_ifs.helpful.push_back(
        {tried[i], DrawnEstimate(std::move(then_ns[i])), saving});
  }
  std::stable_sort(what_ifs.helpful.begin(), what_ifs.helpful.end(),
                   [](const WhatIf& a, const WhatIf& b) {
                     return a.saving.value > b.saving.value;
                   });
  return what_ifs;
}

}  // namespace distbench::blame
