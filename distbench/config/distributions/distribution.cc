#include "distbench/config/distributions/distribution.h"

#include <algorithm>

#include "absl/random/distributions.h"

namespace distbench {

Distribution::Distribution(int dimensions, const std::vector<Box>& boxes)
    : dimensions_(dimensions) {
  double sum = 0;
  for (const Box& box : boxes) {
    // A box of probability 0 could be drawn if rounding left a gap at the end.
    if (box.probability <= 0) continue;
    sum += box.probability;
    cumulative_.push_back(sum);
    boxes_.push_back(box.ranges);
  }
  for (double& probability : cumulative_) probability /= sum;
  cumulative_.back() = 1;
}

Distribution::Values Distribution::Draw(absl::BitGenRef random) const {
  size_t box = 0;
  if (cumulative_.size() > 1) {
    const double choice = absl::Uniform(random, 0.0, 1.0);
    box = std::upper_bound(cumulative_.begin(), cumulative_.end(), choice) -
          cumulative_.begin();
  }
  Values values;
  for (int i = 0; i < kMaxDimensions; ++i) {
    if (i >= dimensions_) {
      values[i] = values[0];
      continue;
    }
    const Range& range = boxes_[box][i];
    values[i] = range.lower == range.upper
                    ? range.lower
                    : absl::Uniform<int64_t>(absl::IntervalClosed, random,
                                             range.lower, range.upper);
  }
  return values;
}

Distribution::Range Distribution::Bounds(int dimension) const {
  Range bounds = boxes_[0][dimension];
  for (const auto& ranges : boxes_) {
    bounds.lower = std::min(bounds.lower, ranges[dimension].lower);
    bounds.upper = std::max(bounds.upper, ranges[dimension].upper);
  }
  return bounds;
}

}  // namespace distbench
