// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/repeated_looks.h"

#include <cmath>
#include <random>
#include <vector>

#include "distbench/stats/distributions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::stats {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

TEST(RepeatedLooksTest, ASingleLookHasTheWholeError) {
  EXPECT_THAT(LevelsOfLooks(0.05, {7, 7}), ElementsAre(DoubleNear(0.05, 1e-9)));
}

// Programs for clinical trials give these normal boundaries for five looks that
// spend 2.5 % by this function.
TEST(RepeatedLooksTest, BoundariesAreThoseOfOtherPrograms) {
  const std::vector<double> expected = {2.438, 2.427, 2.410, 2.397, 2.386};
  const std::vector<double> levels = LevelsOfLooks(0.025, {1, 5});
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(NormalQuantile(1 - levels[i]), expected[i], 1.5e-3) << i;
  }
}

// The probability of a false verdict at some look, by simulation.
double ErrorOf(const std::vector<double>& levels, const LookPlan& plan) {
  constexpr int kTrials = 40'000;
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  int errors = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    double sum = 0;
    bool is_error = false;
    for (int runs = 1; runs <= plan.last; ++runs) {
      sum += normal(random);
      if (runs < plan.first) continue;
      const double level = levels[runs - plan.first];
      is_error |= std::erfc(sum / std::sqrt(2.0 * runs)) / 2 < level;
    }
    errors += is_error;
  }
  return errors / static_cast<double>(kTrials);
}

TEST(RepeatedLooksTest, AllLooksTogetherHaveTheError) {
  for (const LookPlan plan : {LookPlan{4, 20}, {1, 3}, {4, 5}, {2, 60}}) {
    // 4 standard errors.
    EXPECT_NEAR(ErrorOf(LevelsOfLooks(0.05, plan), plan), 0.05, 0.0044)
        << plan.first << " to " << plan.last;
  }
  // Without them, looks would buy a verdict.
  EXPECT_GT(ErrorOf(std::vector<double>(17, 0.05), {4, 20}), 0.12);
}

TEST(RepeatedLooksTest, TheErrorIsFiniteAtBothEnds) {
  for (const double error : {0.49, 1e-12}) {
    for (const double level : LevelsOfLooks(error, {1, 30})) {
      EXPECT_GT(level, 0);
      EXPECT_LE(level, error);
    }
  }
  const double last = LevelsOfLooks(0.05, {4, kMaxLooks}).back();
  EXPECT_GT(last, 0.005);
  EXPECT_LT(last, 0.02);
}

}  // namespace
}  // namespace distbench::stats
