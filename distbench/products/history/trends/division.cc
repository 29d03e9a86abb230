#include "distbench/products/history/trends/division.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace distbench::history {
namespace {

constexpr int kSumBits = 52;
constexpr uint64_t kOneValue = uint64_t{1} << kSumBits;
constexpr int64_t kRangeSteps = int64_t{1} << 40;

int64_t CountOf(uint64_t total) { return total >> kSumBits; }
int64_t SumOf(uint64_t total) { return total & (kOneValue - 1); }

}  // namespace

EnergyScan::EnergyScan(absl::Span<const double> values, size_t min_part)
    : min_part_(min_part),
      ranks_(values.size()),
      sorted_(values.size()),
      distances_(values.size()),
      inverse_(values.size() + 1),
      leaf_count_(std::bit_ceil(values.size())) {
  const int64_t count = values.size();
  std::vector<uint32_t> by_value(count);
  std::iota(by_value.begin(), by_value.end(), 0);
  std::stable_sort(
      by_value.begin(), by_value.end(),
      [&](uint32_t a, uint32_t b) { return values[a] < values[b]; });
  const double smallest = values[by_value.front()];
  // Halves, because the range may exceed the largest number.
  const double half_range = values[by_value.back()] / 2 - smallest / 2;
  step_ = half_range / kRangeSteps * 2;
  int64_t sum = 0;
  for (int64_t rank = 0; rank < count; ++rank) {
    const uint32_t place = by_value[rank];
    ranks_[place] = rank;
    const double share =
        half_range > 0 ? (values[place] / 2 - smallest / 2) / half_range : 0;
    const int64_t steps = std::llround(share * kRangeSteps);
    sorted_[rank] = kOneValue | steps;
    sum += steps;
    inverse_[rank + 1] = 1 / static_cast<double>(rank + 1);
  }
  int64_t below = 0;
  for (int64_t rank = 0; rank < count; ++rank) {
    const int64_t value = SumOf(sorted_[rank]);
    // Those below are `rank` values, those above are the rest.
    distances_[rank] =
        value * rank - below + (sum - below) - value * (count - rank);
    below += value;
    all_distances_ += distances_[rank];
  }
  all_distances_ /= 2;
}

int64_t EnergyScan::Move(uint32_t rank) {
  const Total added = sorted_[rank];
  const Total all = tree_[1];
  Total below = 0;
  size_t node = leaf_count_ + rank;
  for (; node > 1; node /= 2) {
    tree_[node] += added;
    // Of a right child, the leaves below the left one have lower ranks.
    below += tree_[node ^ 1] & -static_cast<Total>(node & 1);
  }
  tree_[1] += added;
  const int64_t value = SumOf(added);
  return value * (2 * CountOf(below) - CountOf(all)) + SumOf(all) -
         2 * SumOf(below);
}

Division EnergyScan::Best(absl::Span<const uint32_t> order) {
  tree_.assign(2 * leaf_count_, 0);
  int64_t within_first = 0;
  int64_t within_second = all_distances_;
  const double all = static_cast<double>(all_distances_) * inverse_.back();
  Division best;
  for (size_t i = 0; i + min_part_ < order.size(); ++i) {
    const int64_t to_first = Move(order[i]);
    within_first += to_first;
    within_second -= distances_[order[i]] - to_first;
    const size_t first = i + 1;
    if (first < min_part_) continue;
    // The sums are over pairs, and the means within count each value's distance
    // 0 from itself.
    const double distance =
        all - static_cast<double>(within_first) * inverse_[first] -
        static_cast<double>(within_second) * inverse_[order.size() - first];
    if (best.index == 0 || distance > best.distance) {
      best = {.index = first, .distance = distance};
    }
  }
  best.distance *= 2 * step_;
  return best;
}

double EnergyScan::ProbabilityBound(double distance) const {
  const double range = step_ * kRangeSteps;
  if (!(range > 0)) return 1;
  const double count = static_cast<double>(ranks_.size());
  const double variance =
      step_ * static_cast<double>(all_distances_) / (count * count);
  // Both divided by sqrt(m n).
  const double excess =
      std::sqrt(distance / (2 * count)) - std::sqrt(variance / (count - 1));
  if (excess <= 0) return 1;
  const double exponent =
      -2 * excess * excess * (count - 0.5) * (1 - 1 / count) / range;
  return std::min(1.0, count * std::exp(exponent));
}

SpreadScan::SpreadScan(absl::Span<const double> distances, size_t min_part)
    : min_part_(min_part),
      order_(distances.begin(), distances.end()),
      sum_(std::accumulate(order_.begin(), order_.end(), 0.0)) {}

Division SpreadScan::Best(absl::Span<const double> order) const {
  const double count = static_cast<double>(order.size());
  const double mean = sum_ / count;
  Division best = {.index = min_part_, .distance = 0};
  if (!(mean > 0)) return best;
  double first_sum = 0;
  for (size_t i = 0; i + min_part_ < order.size(); ++i) {
    first_sum += order[i];
    const double first = static_cast<double>(i + 1);
    if (i + 1 < min_part_) continue;
    // The spread of a part, as a share of that of all. The mean of all counts
    // once in each, so that none is 0.
    const auto share = [&](double sum, double values) {
      return (sum / mean + 1) / (values + 1);
    };
    const double second = count - first;
    const double distance = -first * std::log(share(first_sum, first)) -
                            second * std::log(share(sum_ - first_sum, second));
    if (distance > best.distance) best = {.index = i + 1, .distance = distance};
  }
  return best;
}

}  // namespace distbench::history
