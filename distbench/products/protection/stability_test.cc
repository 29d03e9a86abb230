// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/stability.h"

#include <cmath>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::HasSubstr;

constexpr FlatnessRule kRule = {.within_percent = 0.25, .intervals = 10};

std::vector<StabilityInterval> Constant(int count, double throughput = 200,
                                        double latency_ns = 1e6) {
  return std::vector<StabilityInterval>(
      count, {.throughput = throughput, .latency_ns = latency_ns});
}

TEST(TrendTest, OfALineIsItsSlopeWithoutError) {
  const Trend trend = TrendOf(std::vector<double>{90, 95, 100, 105, 110}, 1);
  EXPECT_NEAR(trend.percent_per_second, 5, 1e-9);
  EXPECT_NEAR(trend.error, 0, 1e-9);
  // The same change in twice the time.
  EXPECT_NEAR(
      TrendOf(std::vector<double>{90, 95, 100, 105, 110}, 2).percent_per_second,
      2.5, 1e-9);
}

TEST(TrendTest, HasTheErrorOfItsResiduals) {
  // Slope 0.5 and residuals -0.25, 0.75, -0.75, 0.25 around a mean of 100:
  // sqrt(1.25 / 2 / 5).
  const std::vector<double> values = {99, 100.5, 99.5, 101};
  const Trend trend = TrendOf(values, 1);
  EXPECT_NEAR(trend.percent_per_second, 0.5, 1e-9);
  EXPECT_NEAR(trend.error, std::sqrt(1.25 / 10), 1e-9);
}

TEST(FlatnessTest, TheErrorOfASlopeExcusesItButNotEveryError) {
  EXPECT_TRUE(IsFlat({.percent_per_second = 0.25, .error = 0}, kRule));
  EXPECT_TRUE(IsFlat({.percent_per_second = -0.25, .error = 0}, kRule));
  EXPECT_FALSE(IsFlat({.percent_per_second = 0.26, .error = 0}, kRule));
  EXPECT_FALSE(IsFlat({.percent_per_second = -0.26, .error = 0}, kRule));
  EXPECT_TRUE(IsFlat({.percent_per_second = 1.2, .error = 0.5}, kRule));
  EXPECT_FALSE(IsFlat({.percent_per_second = 1.3, .error = 0.5}, kRule));
  EXPECT_TRUE(IsFlat({.percent_per_second = 0, .error = 2.5}, kRule));
  EXPECT_FALSE(IsFlat({.percent_per_second = 0, .error = 2.6}, kRule));
}

TEST(StabilityTest, WhatNeverChangesIsStillFromTheStart) {
  const Stability stability = JudgeStability(Constant(20), 1, kRule);
  EXPECT_TRUE(stability.is_stable);
  EXPECT_EQ(stability.since, 0);
  EXPECT_THAT(stability.description,
              HasSubstr("throughput changed by +0.00 ± 0.00 %"));
}

TEST(StabilityTest, FindsTheEndOfAWarmUp) {
  std::vector<StabilityInterval> record = Constant(30);
  for (int i = 0; i < 12; ++i) record[i].throughput = 20 + 15 * i;
  const Stability stability = JudgeStability(record, 1, kRule);
  EXPECT_TRUE(stability.is_stable);
  // A window may begin with the last seconds of the change if they look like
  // chance, but not with more.
  EXPECT_GE(stability.since, 9);
  EXPECT_LE(stability.since, 12);
}

TEST(StabilityTest, AGrowingQueueIsNotStill) {
  std::vector<StabilityInterval> record = Constant(20);
  for (int i = 0; i < 20; ++i) record[i].latency_ns = 1e6 * (1 + 0.02 * i);
  const Stability stability = JudgeStability(record, 1, kRule);
  EXPECT_FALSE(stability.is_stable);
  EXPECT_THAT(stability.description, HasSubstr("median latency by +1."));
}

TEST(StabilityTest, SilenceIsNotStill) {
  std::vector<StabilityInterval> record = Constant(20);
  record[15] = {};
  const Stability stability = JudgeStability(record, 1, kRule);
  EXPECT_FALSE(stability.is_stable);
  EXPECT_THAT(stability.description, HasSubstr("no request succeeded"));
  // Silence before the last seconds does not matter.
  record = Constant(20);
  record[4] = {};
  EXPECT_TRUE(JudgeStability(record, 1, kRule).is_stable);
  EXPECT_EQ(JudgeStability(record, 1, kRule).since, 5);
}

TEST(StabilityTest, NoiseProvesNothing) {
  std::vector<StabilityInterval> record = Constant(20);
  for (int i = 0; i < 20; i += 2) record[i].throughput = 20;
  const Stability stability = JudgeStability(record, 1, kRule);
  EXPECT_FALSE(stability.is_stable);
  EXPECT_THAT(stability.description, HasSubstr("vary too much to tell"));
}

TEST(StabilityTest, NeedsARecordThatIsLongEnough) {
  const Stability stability = JudgeStability(Constant(9), 2, kRule);
  EXPECT_FALSE(stability.is_stable);
  EXPECT_EQ(stability.description,
            "only 18 s were recorded, and 20 s are needed");
  EXPECT_FALSE(JudgeStability({}, 1, kRule).is_stable);
  EXPECT_TRUE(JudgeStability(Constant(10), 2, kRule).is_stable);
}

}  // namespace
}  // namespace distbench::protection
