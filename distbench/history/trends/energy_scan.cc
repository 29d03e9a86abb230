#include "distbench/history/trends/energy_scan.h"

#include <algorithm>
#include <numeric>

namespace distbench {

EnergyScan::EnergyScan(absl::Span<const double> values, size_t min_part)
    : min_part_(min_part),
      ranks_(values.size()),
      sorted_(values.begin(), values.end()),
      distances_(values.size()) {
  const size_t count = values.size();
  std::vector<uint32_t> by_value(count);
  std::iota(by_value.begin(), by_value.end(), 0);
  std::stable_sort(
      by_value.begin(), by_value.end(),
      [&](uint32_t a, uint32_t b) { return values[a] < values[b]; });
  for (size_t rank = 0; rank < count; ++rank) ranks_[by_value[rank]] = rank;
  std::sort(sorted_.begin(), sorted_.end());
  const double sum = std::accumulate(sorted_.begin(), sorted_.end(), 0.0);
  double below = 0;
  for (size_t rank = 0; rank < count; ++rank) {
    const double value = sorted_[rank];
    // Those below are `rank` values, those above are the rest.
    distances_[rank] = value * rank - below + (sum - below) -
                       value * static_cast<double>(count - rank);
    below += value;
    all_distances_ += distances_[rank] / 2;
  }
}

double EnergyScan::Move(uint32_t rank) {
  const double value = sorted_[rank];
  Node below;
  for (size_t i = rank + 1; i > 0; i &= i - 1) {
    below.sum += tree_[i].sum;
    below.count += tree_[i].count;
  }
  const Node all = tree_[0];
  tree_[0].sum += value;
  tree_[0].count += 1;
  for (size_t i = rank + 1; i < tree_.size(); i += i & (~i + 1)) {
    tree_[i].sum += value;
    tree_[i].count += 1;
  }
  return value * below.count - below.sum + (all.sum - below.sum) -
         value * (all.count - below.count);
}

Division EnergyScan::Best(absl::Span<const uint32_t> order) {
  const double count = static_cast<double>(order.size());
  tree_.assign(order.size() + 1, Node());  // [0]: the totals
  double within_first = 0;
  double within_second = all_distances_;
  Division best;
  for (size_t i = 0; i + min_part_ < order.size(); ++i) {
    const double to_first = Move(order[i]);
    within_first += to_first;
    within_second -= distances_[order[i]] - to_first;
    const double first = static_cast<double>(i + 1);
    if (i + 1 < min_part_) continue;
    const double second = count - first;
    const double between = all_distances_ - within_first - within_second;
    // The means within count each value's distance 0 from itself.
    const double distance = 2 *
                            (between - within_first * second / first -
                             within_second * first / second) /
                            count;
    if (best.index == 0 || distance > best.distance) {
      best = {.index = i + 1, .distance = distance};
    }
  }
  return best;
}

}  // namespace distbench
