// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/history/trends/change_points.h"

#include <algorithm>
#include <boost/math/special_functions/binomial.hpp>
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

// That a random order of the values is divided so clearly; 1 if one was.
double ProbabilityOf(const Division& division, Divider& divider, Order order) {
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
  // At least that of the same two parts.
  const double divisions = boost::math::binomial_coefficient<double>(
      static_cast<unsigned>(count), static_cast<unsigned>(division.index));
  return std::max(TailProbability(division.distance, std::move(others)),
                  1 / divisions);
}

// Adds the places and probabilities of the changes of the values, which begin
// at `offset`.
void AddChanges(absl::Span<const double> values, size_t offset,
                double correction, Trend& trend) {
  if (values.size() < kMinJudgedPoints) return;
  Divider divider(values);
  Order order(values.size());
  std::iota(order.begin(), order.end(), 0);
  const Division division = divider.Best(order);
  const double p_value =
      correction * ProbabilityOf(division, divider, std::move(order));
  if (p_value > kAlarmProbability) return;
  AddChanges(values.first(division.index), offset, correction, trend);
  TrendChange& change = *trend.add_changes();
  change.set_index(static_cast<int64_t>(offset + division.index));
  change.set_p_value(p_value);
  AddChanges(values.subspan(division.index), offset + division.index,
             correction, trend);
}

// Adds the segment from `begin` to `end`, which is not part of it.
void AddSegment(absl::Span<const double> values, size_t begin, size_t end,
                Trend& trend) {
  const absl::Span<const double> part = values.subspan(begin, end - begin);
  const double median = stats::Median({part.begin(), part.end()});
  std::vector<double> distances;
  for (const double value : part) distances.push_back(std::abs(value - median));
  // Two standard deviations of a normal distribution, in median absolute ones.
  constexpr double kTwoDeviations = 2 * 1.4826;
  const double reach = kTwoDeviations * stats::Median(std::move(distances));
  TrendSegment& segment = *trend.add_segments();
  segment.set_first(static_cast<int64_t>(begin));
  segment.set_last(static_cast<int64_t>(end) - 1);
  segment.set_mean(stats::Mean(part));
  segment.set_noise_low(median - reach);
  segment.set_noise_high(median + reach);
}

}  // namespace

Trend FindChanges(absl::Span<const double> values, int series_count) {
  Trend trend;
  if (values.empty()) return trend;
  AddChanges(values, /*offset=*/0,
             static_cast<double>(kLooks) * std::max(1, series_count), trend);
  size_t begin = 0;
  for (const TrendChange& change : trend.changes()) {
    AddSegment(values, begin, change.index(), trend);
    begin = change.index();
  }
  AddSegment(values, begin, values.size(), trend);
  for (int i = 0; i < trend.changes_size(); ++i) {
    const double before = trend.segments(i).mean();
    const double after = trend.segments(i + 1).mean();
    TrendChange& change = *trend.mutable_changes(i);
    change.set_before(before);
    change.set_after(after);
    change.set_relative(before == after ? 0
                                        : (after - before) / std::abs(before));
  }
  return trend;
}

}  // namespace distbench::history
