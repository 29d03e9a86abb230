// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/distributions/distribution.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/random/distributions.h"

namespace distbench::config {
namespace {

using Box = Distribution::Box;
using Range = Distribution::Range;

Range RangeOf(const DataPoint& point) {
  if (point.has_exact()) return {point.exact(), point.exact()};
  return {point.lower(), point.upper()};
}

std::vector<Box> BoxesOfPmf(const DistributionConfig& config) {
  std::vector<Box> boxes;
  for (const PmfPoint& point : config.pmf_points()) {
    Box box = {point.pmf(), {}};
    for (int i = 0; i < point.data_points_size(); ++i) {
      box.ranges[i] = RangeOf(point.data_points(i));
    }
    boxes.push_back(box);
  }
  return boxes;
}

// Each point is an exact value, unless the first probability is 0. In that case
// the points are the ends of adjacent, non-overlapping intervals.
std::vector<Box> BoxesOfCdf(const DistributionConfig& config) {
  const auto& points = config.cdf_points();
  const bool intervals = points[0].cdf() == 0;
  std::vector<Box> boxes;
  for (int i = intervals ? 1 : 0; i < points.size(); ++i) {
    Range range = {points[i].value(), points[i].value()};
    if (i == 1 && intervals) range.lower = points[0].value();
    if (i > 1 && intervals) range.lower = points[i - 1].value() + 1;
    const double before = i == 0 ? 0 : points[i - 1].cdf();
    boxes.push_back({points[i].cdf() - before, {range, range}});
  }
  return boxes;
}

}  // namespace

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

int DimensionsOf(const DistributionConfig& config) {
  if (!config.field_names().empty()) return config.field_names_size();
  if (config.pmf_points().empty()) return 1;
  return config.pmf_points(0).data_points_size();
}

Distribution MakeDistribution(const DistributionConfig& config) {
  std::vector<Box> boxes =
      config.pmf_points().empty() ? BoxesOfCdf(config) : BoxesOfPmf(config);
  if (config.field_names_size() == 2 &&
      config.field_names(0) == kResponseSizeField) {
    for (Box& box : boxes) std::swap(box.ranges[0], box.ranges[1]);
  }
  return Distribution(DimensionsOf(config), boxes);
}

}  // namespace distbench::config
