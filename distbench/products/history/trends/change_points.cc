// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/history/trends/change_points.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>

#include "distbench/base/work_random.h"
#include "distbench/stats/median.h"
#include "distbench/stats/run_interval.h"

namespace distbench::history {
namespace {

// Random orders that are tried, and how many of the most divided ones tell how
// fast greater distances become rare.
constexpr int kOrders = 1999;
constexpr int kTailOrders = 200;
constexpr uint64_t kSeed = 0x64697374;

// Of a sequence of values into two parts.
struct Division {
  size_t index = 0;     // of the first value of the second part
  double distance = 0;  // between the parts: how clearly they differ
};

// Places of values, in the order in which they are taken.
using Order = std::vector<uint32_t>;

// Divides sequences of one set of values. How far parts of m and n values are
// apart is their energy distance (G. J. Szekely and M. L. Rizzo, Testing for
// Equal Distributions in High Dimension, InterStat 5 (2004)), times
// m n / (m + n): twice the mean distance between values of different parts,
// minus the mean distances within the parts.
class Divider {
 public:
  // Distances are in units of the values' range.
  explicit Divider(absl::Span<const double> values)
      : count_(values.size()), distances_(count_ * count_), sums_(count_) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    // Halves, because the range may exceed the largest number.
    const double half_range = *high / 2 - *low / 2;
    for (size_t i = 0; half_range > 0 && i < count_; ++i) {
      for (size_t j = 0; j < count_; ++j) {
        const double distance =
            std::abs(values[i] / 2 - values[j] / 2) / half_range;
        distances_[i * count_ + j] = distance;
        sums_[i] += distance;
      }
    }
  }

  // The best division of the values in this order; the first of those that are
  // equally good.
  Division Best(const Order& order) {
    to_first_.assign(count_, 0);
    const double all = std::accumulate(sums_.begin(), sums_.end(), 0.0);
    // Sums over ordered pairs of values in the same part.
    double within_first = 0;
    double within_second = all;
    Division best;
    for (size_t i = 0; i + kMinSegmentPoints < count_; ++i) {
      const uint32_t moved = order[i];
      within_first += 2 * to_first_[moved];
      within_second -= 2 * (sums_[moved] - to_first_[moved]);
      const double* const row = &distances_[moved * count_];
      for (size_t j = 0; j < count_; ++j) to_first_[j] += row[j];
      const size_t first = i + 1;
      if (first < kMinSegmentPoints) continue;
      const double distance =
          all / static_cast<double>(count_) -
          within_first / static_cast<double>(first) -
          within_second / static_cast<double>(count_ - first);
      if (best.index == 0 || distance > best.distance) {
        best = {.index = first, .distance = distance};
      }
    }
    return best;
  }

 private:
  const size_t count_;
  std::vector<double> distances_;  // between the values, row by row
  std::vector<double> sums_;       // of the rows

  // Best()'s: of each value, the sum of the distances from the first part.
  std::vector<double> to_first_;
};

// The same on all platforms, unlike std::shuffle().
void Shuffle(base::WorkRandom& random, Order& order) {
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[random.Below(i)]);
  }
}

// The probability of at least this distance, which none of the others reached.
double TailProbability(double distance, std::vector<double> others) {
  const auto threshold = others.begin() + kTailOrders;
  std::nth_element(others.begin(), threshold, others.end(), std::greater<>());
  const double mean_excess =
      std::accumulate(others.begin(), threshold, 0.0) / kTailOrders -
      *threshold;
  return static_cast<double>(kTailOrders) / static_cast<double>(others.size()) *
         std::exp(-(distance - *threshold) / mean_excess);
}

// That random values are divided into the same two sets.
double SmallestProbability(size_t first, size_t count) {
  const auto log_orders = [](size_t n) {
    return std::lgamma(static_cast<double>(n) + 1);
  };
  return std::exp(log_orders(first) + log_orders(count - first) -
                  log_orders(count));
}

class ChangeSearch {
 public:
  explicit ChangeSearch(double correction) : correction_(correction) {}

  // Notes the changes of the values, which begin at `offset`.
  void Search(absl::Span<const double> values, size_t offset) {
    if (values.size() < kMinJudgedPoints) return;
    Divider divider(values);
    Order order(values.size());
    std::iota(order.begin(), order.end(), 0);
    const Division division = divider.Best(order);
    const double p_value =
        correction_ * ProbabilityOf(division, divider, std::move(order));
    if (p_value > kAlarmProbability) return;
    Search(values.first(division.index), offset);
    changes_.push_back({.index = offset + division.index, .p_value = p_value});
    Search(values.subspan(division.index), offset + division.index);
  }

  std::vector<ChangePoint> Take() { return std::move(changes_); }

 private:
  // That a random order is divided so clearly; 1 if one was.
  static double ProbabilityOf(const Division& division, Divider& divider,
                              Order order) {
    // Rounding must not tell equal divisions apart.
    constexpr double kAlmost = 1 - 1e-9;
    base::WorkRandom random(kSeed);
    const size_t count = order.size();
    std::vector<double> others;
    while (others.size() < kOrders) {
      Shuffle(random, order);
      others.push_back(divider.Best(order).distance);
      if (others.back() >= division.distance * kAlmost) return 1;
    }
    return std::max(TailProbability(division.distance, std::move(others)),
                    SmallestProbability(division.index, count));
  }

  const double correction_;
  std::vector<ChangePoint> changes_;  // ascending
};

Segment Describe(absl::Span<const double> values, size_t begin, size_t end) {
  const absl::Span<const double> part = values.subspan(begin, end - begin);
  const double median = stats::Median({part.begin(), part.end()});
  std::vector<double> distances;
  for (const double value : part) distances.push_back(std::abs(value - median));
  constexpr double kDeviations = 2;
  // The standard deviation of a normal distribution in median absolute
  // deviations.
  constexpr double kNormal = 1.4826;
  const double reach =
      kDeviations * kNormal * stats::Median(std::move(distances));
  return {.first = begin,
          .last = end - 1,
          .mean = stats::Mean(part),
          .noise_low = median - reach,
          .noise_high = median + reach};
}

}  // namespace

Judgement FindChanges(absl::Span<const double> values, int series_count) {
  if (values.empty()) return {};
  ChangeSearch search(static_cast<double>(kLooks) * std::max(1, series_count));
  search.Search(values, 0);
  Judgement judgement = {.changes = search.Take(), .segments = {}};
  size_t begin = 0;
  for (const ChangePoint& change : judgement.changes) {
    judgement.segments.push_back(Describe(values, begin, change.index));
    begin = change.index;
  }
  judgement.segments.push_back(Describe(values, begin, values.size()));
  for (size_t i = 0; i < judgement.changes.size(); ++i) {
    ChangePoint& change = judgement.changes[i];
    change.before = judgement.segments[i].mean;
    change.after = judgement.segments[i + 1].mean;
    change.relative =
        change.before == change.after
            ? 0
            : (change.after - change.before) / std::abs(change.before);
  }
  return judgement;
}

}  // namespace distbench::history
