// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/share_interval.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace distbench::stats {
namespace {

TEST(ShareIntervalTest, WorkedExample) {
  const Interval interval = IntervalOfShare({.amount = 2, .count = 10}, 0.025);
  EXPECT_NEAR(interval.lower, 0.0252, 1e-4);
  EXPECT_NEAR(interval.upper, 0.5561, 1e-4);
}

TEST(ShareIntervalTest, NoneAndAllHaveOneBound) {
  const Interval none = IntervalOfShare({.amount = 0, .count = 100}, 0.05);
  EXPECT_EQ(none.lower, 0);
  EXPECT_NEAR(none.upper, 1 - std::pow(0.05, 0.01), 1e-9);
  const Interval all = IntervalOfShare({.amount = 100, .count = 100}, 0.05);
  EXPECT_NEAR(all.lower, std::pow(0.05, 0.01), 1e-9);
  EXPECT_EQ(all.upper, 1);
  const Interval nothing = IntervalOfShare({.amount = 0, .count = 0}, 0.05);
  EXPECT_EQ(nothing.lower, 0);
  EXPECT_EQ(nothing.upper, 1);
}

// Without failures of the base, only those of the other side are uncertain.
TEST(ShareIntervalTest, BoundsOfADifferenceAreThoseOfBothShares) {
  const CountedShare none = {.amount = 0, .count = 1000};
  const CountedShare few = {.amount = 5, .count = 1000};
  const Difference difference = DifferenceOfShares(none, few, 0.05);
  EXPECT_DOUBLE_EQ(difference.estimate, 0.005);
  EXPECT_NEAR(difference.interval->upper, IntervalOfShare(few, 0.05).upper,
              1e-12);
  EXPECT_LT(difference.interval->lower, IntervalOfShare(few, 0.05).lower);
}

TEST(ShareIntervalTest, BlocksThatDifferAreWorthFewerRequests) {
  const CountedShare counted = {.amount = 40, .count = 4000};
  const std::vector<BlockAmount> even(4, {10, 1000});
  EXPECT_EQ(EffectiveShare(counted, even, 0.95).count, 4000);
  EXPECT_EQ(EffectiveShare(counted, {}, 0.95).count, 4000);
  const std::vector<BlockAmount> burst = {
      {0, 1000}, {40, 1000}, {0, 1000}, {0, 1000}};
  const CountedShare effective = EffectiveShare(counted, burst, 0.95);
  EXPECT_LT(effective.count, 100);
  EXPECT_DOUBLE_EQ(effective.share(), 0.01);
}

}  // namespace
}  // namespace distbench::stats
