// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/comparison/distribution_change.h"

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "distbench/report/comparison/compare.h"
#include "distbench/report/comparison/testing/made_runs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::HasSubstr;

// From a uniform variable to a latency in milliseconds.
using Quantiles = std::function<double(double uniform)>;

double Smooth(double uniform) { return 1 + uniform * uniform; }

// Between the 10th and the 48th percentile, latencies keep to the ends of that
// range. All other percentiles, and the mean, are those of Smooth().
double Hollow(double uniform) {
  if (uniform <= 0.1 || uniform >= 0.48) return Smooth(uniform);
  return uniform < 0.3315 ? Smooth(0.1) : Smooth(0.48);
}

// Runs differ by 1 % as a whole.
std::vector<TestResult> Runs(int count, const Quantiles& quantiles,
                             std::mt19937_64& random, int failed_count = 0) {
  constexpr int kRpcs = 4000;
  std::normal_distribution<double> normal(0, 0.01);
  std::uniform_real_distribution<double> uniform;
  std::vector<TestResult> runs;
  for (int i = 0; i < count; ++i) {
    const double run_factor = std::exp(normal(random));
    results::RpcTotals totals;
    for (int j = 0; j < kRpcs; ++j) {
      totals.service_time_ns.Record(
          std::llround(1e6 * run_factor * quantiles(uniform(random))));
    }
    totals.counts.succeeded_count = kRpcs;
    totals.counts.failed_count = failed_count;
    runs.push_back(RunWith(std::move(totals)));
  }
  return runs;
}

const DistributionChange& ChangeIn(
    const std::vector<TestComparison>& compared) {
  return compared.at(0).rpcs.at(0).distribution;
}

TEST(DistributionChangeTest, IsFoundWherePercentilesAndTheMeanHoldStill) {
  std::mt19937_64 random(1);
  const auto compared =
      Compared(Runs(8, Smooth, random), Runs(8, Hollow, random));
  for (const MetricComparison& metric : compared[0].rpcs[0].metrics) {
    EXPECT_EQ(metric.verdict, ComparisonVerdict::kNoDifference)
        << stats::MetricName(metric.metric);
  }
  EXPECT_TRUE(ChangeIn(compared).differs()) << *ChangeIn(compared).p_value;
  EXPECT_NEAR(ChangeIn(compared).distance, 0.017, 0.01);
  EXPECT_THAT(DescribeComparisons(compared),
              HasSubstr("distribution: differs (p = "));
}

TEST(DistributionChangeTest, FourRunsOfEachAreNeeded) {
  const auto runs = [](int count, int64_t latency_ns) {
    return std::vector<TestResult>(count, RunOf(latency_ns));
  };
  const auto three = Compared(runs(3, 1000), runs(3, 2000));
  EXPECT_FALSE(ChangeIn(three).p_value);
  EXPECT_FALSE(ChangeIn(three).differs());
  EXPECT_THAT(DescribeComparisons(three), HasSubstr("--repeat=4"));
  const auto four = Compared(runs(4, 1000), runs(4, 2000));
  EXPECT_DOUBLE_EQ(*ChangeIn(four).p_value, 2.0 / 70);
  EXPECT_TRUE(ChangeIn(four).differs());
  EXPECT_NEAR(ChangeIn(four).distance, 1, 0.01);
}

TEST(DistributionChangeTest, RunsThatAreAlikeDoNotDiffer) {
  const std::vector<TestResult> runs(5, RunOf(1000));
  const DistributionChange change = ChangeIn(Compared(runs, runs));
  EXPECT_DOUBLE_EQ(*change.p_value, 1);
  EXPECT_DOUBLE_EQ(change.distance, 0);
}

// The latencies of the RPCs that succeeded are the same.
TEST(DistributionChangeTest, FailuresAreTheSlowestRpcs) {
  std::mt19937_64 random(2);
  const auto base = Runs(5, Smooth, random);
  const auto compared =
      Compared(base, Runs(5, Smooth, random, /*failed_count=*/1000));
  EXPECT_TRUE(ChangeIn(compared).differs()) << *ChangeIn(compared).p_value;
  const std::vector<TestResult> all_failed(5, RunOf(1000, 0, 100));
  EXPECT_TRUE(
      ChangeIn(Compared(std::vector<TestResult>(5, RunOf(1000)), all_failed))
          .differs());
  EXPECT_FALSE(ChangeIn(Compared(all_failed, all_failed)).differs());
}

// 83 and 167 hours, for which histograms have no buckets.
TEST(DistributionChangeTest, LatenciesBeyondTheBucketsAreNoFailures) {
  const DistributionChange change = ChangeIn(
      Compared(std::vector<TestResult>(4, RunOf(300'000'000'000'000, 100)),
               std::vector<TestResult>(4, RunOf(600'000'000'000'000, 100))));
  EXPECT_TRUE(change.differs());
  EXPECT_NEAR(change.distance, 1, 0.01);
}

TEST(DistributionChangeTest, RunsWithoutRpcsAreNamed) {
  std::vector<TestResult> runs(5, RunOf(1000));
  runs[3] = RunOf(1000, 0);
  EXPECT_THAT(ChangeIn(Compared(runs, runs)).reason, HasSubstr("no RPCs"));
}

TEST(DistributionChangeTest, ManyRunsDoNotTakeLong) {
  const std::vector<TestResult> runs(200, RunOf(1000, 100));
  EXPECT_DOUBLE_EQ(*ChangeIn(Compared(runs, runs)).p_value, 1);
}

}  // namespace
}  // namespace distbench::report
