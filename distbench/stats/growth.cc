// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/growth.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "distbench/stats/distributions.h"
#include "distbench/stats/run_interval.h"

namespace distbench::stats {
namespace {

// That a normal value lies within three standard errors.
constexpr double kBeyondChance = 0.9973;

// Whether the mean of the second half is above that of the first.
bool IsHigherLater(absl::Span<const double> values) {
  const size_t middle = values.size() / 2;
  const Difference rise = DifferenceOfMeans(
      values.first(middle), values.subspan(middle), kBeyondChance);
  return rise.interval->lower > 0;
}

// Whether the slope of the regression line is above 0.
bool Rises(absl::Span<const double> values) {
  const double size = static_cast<double>(values.size());
  const double mean = Mean(values);
  double times = 0;     // squares of the distances from the middle
  double products = 0;  // of these distances and the values'
  double squares = 0;   // of the values' distances from their mean
  for (size_t i = 0; i < values.size(); ++i) {
    const double time = static_cast<double>(i) - (size - 1) / 2;
    times += time * time;
    products += time * (values[i] - mean);
    squares += (values[i] - mean) * (values[i] - mean);
  }
  const double slope = products / times;
  const double unexplained = std::max(0.0, squares - slope * products);
  const double error = std::sqrt(unexplained / (size - 2) / times);
  return slope > error * StudentTQuantile((1 + kBeyondChance) / 2, size - 2);
}

}  // namespace

bool HasRisen(absl::Span<const double> values) {
  return IsHigherLater(values) || Rises(values);
}

}  // namespace distbench::stats
