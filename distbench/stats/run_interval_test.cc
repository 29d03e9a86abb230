// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/run_interval.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace distbench::stats {
namespace {

constexpr double kCertainty = 0.95;

TEST(RunIntervalTest, IntervalOfMeanIsStudents) {
  const std::vector<double> runs = {1, 2, 3};
  const auto interval = IntervalOfMean(runs, kCertainty);
  ASSERT_TRUE(interval.has_value());
  // t(0.975, 2) = 4.3027, and the standard error is 1/sqrt(3).
  EXPECT_NEAR(interval->lower, 2 - 4.30265 / std::sqrt(3), 1e-4);
  EXPECT_NEAR(interval->upper, 2 + 4.30265 / std::sqrt(3), 1e-4);
}

TEST(RunIntervalTest, OneRunHasNoInterval) {
  EXPECT_FALSE(IntervalOfMean(std::vector<double>{1}, kCertainty));
  EXPECT_FALSE(IntervalOfMean({}, kCertainty));
}

TEST(RunIntervalTest, EqualRunsHaveAnIntervalWithoutWidth) {
  const auto mean = IntervalOfMean(std::vector<double>{7, 7, 7}, kCertainty);
  ASSERT_TRUE(mean.has_value());
  EXPECT_EQ(mean->lower, 7);
  EXPECT_EQ(mean->upper, 7);
}

// Runs differ by as much as the seconds within a run.
TEST(RunIntervalTest, ContainsALowPercentileOfRunsAsOftenAsItSays) {
  constexpr int kRounds = 400;
  constexpr int kSeconds = 60;
  // The expected fourth lowest of 60 normal seconds.
  constexpr double kTruth = -1.5568;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  int contained = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> lows;
    for (int run = 0; run < 6; ++run) {
      const double level = normal(random);
      std::vector<double> seconds;
      for (int i = 0; i < kSeconds; ++i) {
        seconds.push_back(level + normal(random));
      }
      std::sort(seconds.begin(), seconds.end());
      lows.push_back(seconds[3]);  // their p05, the fourth lowest
    }
    const auto interval = IntervalOfMean(lows, kCertainty);
    contained += interval->lower <= kTruth && kTruth <= interval->upper;
  }
  EXPECT_GT(contained, 0.92 * kRounds);
}

TEST(WelchIntervalTest, WorkedExample) {
  // s1^2/n1 = 1/3 and s2^2/n2 = 4/3; their sum 5/3 has (5/3)^2 / ((1/3)^2/2 +
  // (4/3)^2/2) = 50/17 degrees of freedom.
  const Difference difference = DifferenceOfMeans({1, 2, 3}, {4, 6, 8}, 0.95);
  EXPECT_DOUBLE_EQ(difference.estimate, 4);
  ASSERT_TRUE(difference.interval);
  // t(0.975, 50/17) = 3.2184, times sqrt(5/3).
  EXPECT_NEAR(difference.interval->lower, 4 - 4.155, 2e-3);
  EXPECT_NEAR(difference.interval->upper, 4 + 4.155, 2e-3);
}

TEST(WelchIntervalTest, ASingleRunHasNoInterval) {
  EXPECT_FALSE(DifferenceOfMeans({1}, {2, 3}, 0.95).interval);
  EXPECT_FALSE(RatioOfMeans({1, 2}, {2}, 0.95).interval);
  EXPECT_DOUBLE_EQ(RatioOfMeans({2}, {3}, 0.95).estimate, 1.5);
}

TEST(GeometricMeanTest, OfOneValueIsThatValue) {
  EXPECT_EQ(GeometricMean({109'823.0}), 109'823.0);
}

TEST(WelchIntervalTest, RatioIsOfGeometricMeans) {
  const Difference ratio = RatioOfMeans({1, 4}, {8, 2}, 0.95);
  EXPECT_DOUBLE_EQ(ratio.estimate, 2);
  ASSERT_TRUE(ratio.interval);
  EXPECT_NEAR(ratio.interval->lower * ratio.interval->upper, 4, 1e-9);
}

TEST(WelchIntervalTest, RunsThatAreAlikeHaveAPoint) {
  const Difference ratio = RatioOfMeans({2, 2, 2}, {3, 3}, 0.95);
  ASSERT_TRUE(ratio.interval);
  EXPECT_DOUBLE_EQ(ratio.interval->lower, 1.5);
  EXPECT_DOUBLE_EQ(ratio.interval->upper, 1.5);
}

// As many runs as are asked for decide in four of five cases, not in half.
TEST(WelchIntervalTest, SaysHowManyRunsWouldProbablyDecide) {
  constexpr int kTrials = 2000;
  // Means of 0 and 1, and a deviation of 1 (of a sample of two).
  const double spread = std::sqrt(0.5);
  const std::vector<double> base = {-spread, spread};
  const std::vector<double> next = {1 - spread, 1 + spread};
  const int runs = *RunsToTellFrom(0, base, next, [](int) { return 0.9; });
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  int decided = 0;
  for (int i = 0; i < kTrials; ++i) {
    std::vector<double> base_runs(runs), next_runs(runs);
    for (double& run : base_runs) run = normal(random);
    for (double& run : next_runs) run = 1 + normal(random);
    decided += DifferenceOfMeans(base_runs, next_runs, 0.9).interval->lower > 0;
  }
  EXPECT_NEAR(decided / static_cast<double>(kTrials), 0.8, 0.05);
}

TEST(WelchIntervalTest, SaysTheFewestRunsAndWhenThereAreTooMany) {
  const auto runs = [](double distance) {
    return RunsToTellFrom(0, {-1, 1}, {distance - 1, distance + 1},
                          [](int) { return 0.95; });
  };
  EXPECT_EQ(runs(1000), 2);
  EXPECT_EQ(runs(0.1), std::nullopt);
  // 4 * (1.96 + 0.84)^2 / distance^2 with many runs.
  EXPECT_NEAR(*runs(0.2), 786, 4);
  int before = 2;
  for (double distance = 100; distance > 0.2; distance *= 0.9) {
    EXPECT_GE(*runs(distance), before);
    before = *runs(distance);
  }
}

// Runs differ by a log-normal factor; the groups' spreads and sizes differ too.
TEST(WelchIntervalTest, MissesTheTruthAsOftenAsPromised) {
  constexpr int kTrials = 4000;
  std::mt19937_64 random(11);
  std::lognormal_distribution<double> base(0, 0.1);
  std::lognormal_distribution<double> next(0, 0.2);
  int misses = 0;
  for (int i = 0; i < kTrials; ++i) {
    std::vector<double> base_runs(5), next_runs(8);
    for (double& run : base_runs) run = base(random);
    for (double& run : next_runs) run = next(random);
    const Interval interval =
        *RatioOfMeans(base_runs, next_runs, 0.95).interval;
    if (interval.lower > 1 || interval.upper < 1) ++misses;
  }
  // 4 standard errors around 5 %.
  EXPECT_NEAR(misses / static_cast<double>(kTrials), 0.05, 0.014);
}

}  // namespace
}  // namespace distbench::stats
