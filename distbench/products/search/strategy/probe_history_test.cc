// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/strategy/probe_history.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace distbench::search {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Probe At(double load, double excess, double error, double seconds = 10) {
  return {.request = {.phase = ProbePhase::kRefine, .load = load},
          .achieved_load = load,
          .excess = excess,
          .excess_error = error,
          .seconds = seconds};
}

ProbeHistory HistoryOf(const std::vector<Probe>& probes) {
  ProbeHistory history;
  for (const Probe& probe : probes) history.Add(probe);
  return history;
}

TEST(FindIntervalTest, IsThatOfTheLine) {
  const double step = 0.1;
  const LoadInterval interval =
      FindInterval(HistoryOf({At(100 * std::exp(-step), -2 * step, 0.08),
                              At(100 * std::exp(step), 2 * step, 0.08)}));
  // The error of the mean of both, by the slope 2.
  const double half_width = 1.96 * 0.08 / std::sqrt(2) / 2;
  EXPECT_NEAR(*interval.min, 100 * std::exp(-half_width), 0.5);
  EXPECT_NEAR(*interval.max, 100 * std::exp(half_width), 0.5);
}

TEST(FindIntervalTest, AProbeWithoutABurstDoesNotPullTheLine) {
  // The last probe happens to be low, and to think itself exact.
  const ProbeHistory history =
      HistoryOf({At(90, -0.2, 0.1), At(110, 0.2, 0.1), At(100, 0, 0.1),
                 At(100, -0.15, 0.001)});
  const LoadInterval interval = FindInterval(history);
  EXPECT_LT(*interval.min, 98);
  EXPECT_LT(std::sqrt(*interval.min * *interval.max), 102.5);
}

TEST(FindIntervalTest, LongProbesCountForMore) {
  const auto center = [](double low_seconds, double high_seconds) {
    const LoadInterval interval = FindInterval(
        HistoryOf({At(90, -0.2, 0.02, 100), At(110, 0.2, 0.02, 100),
                   At(100, 0.06, 0.02, low_seconds),
                   At(100, -0.06, 0.02, high_seconds)}));
    return std::sqrt(*interval.min * *interval.max);
  };
  EXPECT_LT(center(400, 10), center(10, 400));
}

TEST(FindIntervalTest, ScatterMakesItWider) {
  const auto width = [](double scatter) {
    const LoadInterval interval = FindInterval(HistoryOf(
        {At(90, -0.2 + scatter, 0.01), At(95, -0.1 - scatter, 0.01),
         At(105, 0.1 + scatter, 0.01), At(110, 0.2 - scatter, 0.01)}));
    return *interval.max - *interval.min;
  };
  EXPECT_GT(width(0.05), 4 * width(0.0));
}

TEST(FindIntervalTest, HasNoBoundThatNothingMeasured) {
  const LoadInterval none = FindInterval(HistoryOf({At(100, -0.1, 0.2)}));
  EXPECT_FALSE(none.min.has_value());
  EXPECT_FALSE(none.max.has_value());
  // A line through probes that all met does not show where one would miss.
  const LoadInterval met =
      FindInterval(HistoryOf({At(50, -0.7, 0.01), At(100, -0.2, 0.01)}));
  EXPECT_GE(*met.min, 100);
  EXPECT_FALSE(met.max.has_value());
}

TEST(FindIntervalTest, ClearProbesBoundAnEdge) {
  const LoadInterval interval =
      FindInterval(HistoryOf({At(480, -1.4, 0.01), At(500, kInfinity, 0)}));
  EXPECT_EQ(interval.min, 480);
  EXPECT_EQ(interval.max, 500);
}

TEST(FindIntervalTest, ProbesOfUnknownErrorProveNothing) {
  const LoadInterval interval = FindInterval(
      HistoryOf({At(480, -1.4, kInfinity), At(500, kInfinity, kInfinity)}));
  EXPECT_FALSE(interval.min.has_value());
  EXPECT_FALSE(interval.max.has_value());
}

TEST(IsProvenTest, NeedsALowerBound) {
  EXPECT_TRUE(IsProven({.min = 100, .max = 120}, 100));
  EXPECT_FALSE(IsProven({.min = 99, .max = 120}, 100));
  EXPECT_FALSE(IsProven({.max = 120}, 100));
}

}  // namespace
}  // namespace distbench::search
