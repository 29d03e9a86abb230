// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/share_interval.h"

#include <algorithm>
#include <cmath>

#include "distbench/stats/distributions.h"

namespace distbench::stats {

Interval IntervalOfShare(const CountedShare& counted, double error) {
  const double others = counted.count - counted.amount;
  return {.lower = counted.amount > 0
                       ? BetaQuantile(error, counted.amount, others + 1)
                       : 0,
          .upper = others > 0
                       ? BetaQuantile(1 - error, counted.amount + 1, others)
                       : 1};
}

Difference DifferenceOfShares(const CountedShare& base,
                              const CountedShare& next, double error) {
  const Interval base_bounds = IntervalOfShare(base, error);
  const Interval next_bounds = IntervalOfShare(next, error);
  const double difference = next.share() - base.share();
  return {.estimate = difference,
          .interval = Interval{
              difference - std::hypot(next.share() - next_bounds.lower,
                                      base_bounds.upper - base.share()),
              difference + std::hypot(next_bounds.upper - next.share(),
                                      base.share() - base_bounds.lower)}};
}

CountedShare EffectiveShare(const CountedShare& counted,
                            absl::Span<const BlockAmount> blocks,
                            double confidence) {
  const double share = counted.share();
  if (blocks.size() < 2 || share <= 0 || share >= 1) return counted;
  const double error = HalfWidthOfRatio(blocks, confidence) /
                       NormalQuantile((1 + confidence) / 2);
  const double independent_count = share * (1 - share) / (error * error);
  const double count = std::min(counted.count, independent_count);
  return {.amount = share * count, .count = count};
}

}  // namespace distbench::stats
