#include "distbench/products/blame/tail_shares.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>
#include <utility>

namespace distbench::blame {
namespace {

constexpr int kDraws = 500;
constexpr double kTailShare = 0.025;

}  // namespace

void VisitDraws(size_t item_count, uint64_t seed,
                absl::FunctionRef<void(const Multiplicities&)> visit) {
  visit(Multiplicities(item_count, 1));
  std::mt19937_64 random(seed);
  Multiplicities drawn;
  for (int draw = 0; draw < kDraws; ++draw) {
    drawn.assign(item_count, 0);
    for (size_t i = 0; i < item_count; ++i) ++drawn[random() % item_count];
    visit(drawn);
  }
}

BlameEstimate DrawnEstimate(std::vector<double> values) {
  const double value = values.front();
  std::sort(values.begin() + 1, values.end());
  const double draws = static_cast<double>(values.size() - 1);
  const auto at = [&](double quantile) {
    return values[1 + static_cast<size_t>(quantile * (draws - 1))];
  };
  return {value, at(kTailShare), at(1 - kTailShare)};
}

namespace {

constexpr double kWidestWindow = 0.05;

// What a share is of. Instances are -1 in sums over all.
using Key = std::tuple<int, int, BlamePart>;

// One request: times by key, for single instances and for all together.
using TimesByKey = std::map<Key, double>;

TimesByKey KeyedTimes(const RequestTree& tree) {
  TimesByKey times;
  for (const PathTime& time : TimesOnPath(tree)) {
    const auto time_ns = static_cast<double>(time.time_ns);
    times[{time.rpc, time.instance, time.part}] += time_ns;
    times[{time.rpc, -1, time.part}] += time_ns;
  }
  return times;
}

// The values of all keys, in their order.
using Row = std::vector<double>;

// The requests of a window, and what was estimated from them: once from all,
// then from each draw.
struct WindowTimes {
  std::vector<TimesByKey> times;  // by tree
  std::vector<double> totals_ns;

  std::vector<Row> mean_share;
  std::vector<Row> mean_ns;
  std::vector<double> mean_total_ns;
};

WindowTimes TimesIn(const TracedRequests& requests, const TailWindow& window) {
  WindowTimes times;
  for (const int position : window.trees) {
    const RequestTree& tree = requests.trees[position];
    times.times.push_back(KeyedTimes(tree));
    times.totals_ns.push_back(
        std::max<double>(1, static_cast<double>(tree.total_ns())));
  }
  return times;
}

double MeanTotal(const WindowTimes& window) {
  return std::accumulate(window.totals_ns.begin(), window.totals_ns.end(),
                         0.0) /
         static_cast<double>(window.totals_ns.size());
}

// The keys of RPCs and parts, and those of the instances with most of the time
// of some window.
std::vector<Key> ChooseKeys(const std::vector<WindowTimes>& windows) {
  std::set<Key> chosen;
  for (const WindowTimes& window : windows) {
    TimesByKey sums;
    for (const TimesByKey& times : window.times) {
      for (const auto& [key, time_ns] : times) sums[key] += time_ns;
    }
    std::vector<std::pair<double, Key>> instances;
    for (const auto& [key, sum_ns] : sums) {
      if (std::get<1>(key) < 0) {
        chosen.insert(key);
      } else {
        instances.emplace_back(-sum_ns, key);
      }
    }
    std::sort(instances.begin(), instances.end());
    instances.resize(std::min(instances.size(), kMostInstanceShares));
    for (const auto& [sum_ns, key] : instances) chosen.insert(key);
  }
  return {chosen.begin(), chosen.end()};
}

void Draw(const std::vector<Key>& keys, uint64_t seed, WindowTimes& window) {
  if (window.times.empty()) return;
  const size_t tree_count = window.times.size();
  std::vector<Row> times_ns;  // dense, because every draw needs them
  for (const TimesByKey& times : window.times) {
    Row& row = times_ns.emplace_back();
    for (const Key& key : keys) {
      const auto found = times.find(key);
      row.push_back(found == times.end() ? 0 : found->second);
    }
  }
  VisitDraws(tree_count, seed, [&](const Multiplicities& drawn) {
    Row& mean_ns = window.mean_ns.emplace_back(keys.size());
    Row& mean_share = window.mean_share.emplace_back(keys.size());
    double& mean_total_ns = window.mean_total_ns.emplace_back();
    for (size_t i = 0; i < tree_count; ++i) {
      if (drawn[i] == 0) continue;
      // Sums of whole numbers are exact: equal times have equal means.
      const auto weight = static_cast<double>(drawn[i]);
      mean_total_ns += weight * window.totals_ns[i];
      for (size_t k = 0; k < keys.size(); ++k) {
        mean_ns[k] += weight * times_ns[i][k];
        mean_share[k] += weight * times_ns[i][k] / window.totals_ns[i];
      }
    }
    const auto count = static_cast<double>(tree_count);
    mean_total_ns /= count;
    for (double& value : mean_ns) value /= count;
    for (double& value : mean_share) value /= count;
  });
}

BlameEstimate ShareOfTime(const WindowTimes& window, size_t key) {
  std::vector<double> values;
  for (const Row& row : window.mean_share) values.push_back(row[key]);
  return DrawnEstimate(std::move(values));
}

// Absent if the window's requests do not take longer than those around p50.
std::optional<BlameEstimate> ShareOfExcess(const WindowTimes& window,
                                           const WindowTimes& median,
                                           size_t key) {
  std::vector<double> values;
  for (size_t i = 0; i < window.mean_ns.size(); ++i) {
    const double excess_ns = window.mean_total_ns[i] - median.mean_total_ns[i];
    if (excess_ns <= 0) return std::nullopt;
    values.push_back((window.mean_ns[i][key] - median.mean_ns[i][key]) /
                     excess_ns);
  }
  return DrawnEstimate(std::move(values));
}

QuantileShares SharesOf(const std::vector<Key>& keys, const WindowTimes& window,
                        const WindowTimes& median) {
  QuantileShares shares;
  if (window.times.empty()) return shares;
  shares.mean_ns = MeanTotal(window);
  for (size_t k = 0; k < keys.size(); ++k) {
    const auto [rpc, instance, part] = keys[k];
    BlameShare share = {rpc, instance, part, ShareOfTime(window, k)};
    if (&window != &median && !median.times.empty()) {
      share.of_excess = ShareOfExcess(window, median, k);
    }
    (instance < 0 ? shares.shares : shares.instance_shares)
        .push_back(std::move(share));
  }
  const auto is_larger = [](const BlameShare& a, const BlameShare& b) {
    return a.of_time.value > b.of_time.value;
  };
  std::stable_sort(shares.shares.begin(), shares.shares.end(), is_larger);
  std::stable_sort(shares.instance_shares.begin(), shares.instance_shares.end(),
                   is_larger);
  shares.instance_shares.resize(
      std::min(shares.instance_shares.size(), kMostInstanceShares));
  return shares;
}

}  // namespace

const BlameShare* MainCause(const QuantileShares& shares) {
  for (const BlameShare& share : shares.shares) {
    if (share.of_excess.has_value() && share.of_excess->lower > 0.5) {
      return &share;
    }
  }
  return nullptr;
}

std::vector<int> ByLatency(const TracedRequests& requests) {
  std::vector<int> order(requests.trees.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return requests.trees[a].total_ns() < requests.trees[b].total_ns();
  });
  return order;
}

std::vector<TailWindow> WindowsOf(const TracedRequests& requests) {
  const std::vector<int> order = ByLatency(requests);
  const double count = static_cast<double>(order.size());
  std::vector<TailWindow> windows;
  for (const double quantile : kBlamedQuantiles) {
    const double half = std::min(kWidestWindow, 1 - quantile);
    TailWindow& window = windows.emplace_back();
    window.needed_count = std::llround(kFewestTrees / (2 * half));
    if (static_cast<int64_t>(order.size()) < window.needed_count) continue;
    const int64_t from = std::llround((quantile - half) * count);
    const int64_t to = std::llround((quantile + half) * count);
    window.trees.assign(order.begin() + from, order.begin() + to);
  }
  return windows;
}

std::vector<QuantileShares> SharesIn(const TracedRequests& requests,
                                     const std::vector<TailWindow>& windows) {
  std::vector<WindowTimes> times;
  for (const TailWindow& window : windows) {
    times.push_back(TimesIn(requests, window));
  }
  const std::vector<Key> keys = ChooseKeys(times);
  for (size_t i = 0; i < times.size(); ++i) Draw(keys, i + 1, times[i]);
  std::vector<QuantileShares> shares;
  for (const WindowTimes& window : times) {
    shares.push_back(SharesOf(keys, window, times.front()));
  }
  return shares;
}

}  // namespace distbench::blame
