// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/comparison/noise_floor.h"

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "distbench/report/comparison/compare.h"
#include "distbench/report/comparison/testing/made_runs.h"
#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr stats::Metric kP99 = {stats::Metric::Kind::kPercentile, 99};
constexpr stats::Metric kFailures = {stats::Metric::Kind::kFailures};

TEST(NoiseFloorTest, WorkedExample) {
  // t(0.975, 2) = 4.3027; the deviation is 0.01.
  const std::vector<double> shares = {0.01, 0.02, 0.03};
  EXPECT_NEAR(*NoiseFloor(kFailures, shares, 1, 1),
              4.3027 * 0.01 * std::sqrt(2), 1e-6);
  EXPECT_NEAR(*NoiseFloor(kFailures, shares, 2, 4),
              4.3027 * 0.01 * std::sqrt(0.75), 1e-6);
  const std::vector<double> latencies = {100, 100 * std::exp(0.1),
                                         100 * std::exp(0.2)};
  EXPECT_NEAR(*NoiseFloor(kP99, latencies, 1, 1),
              std::exp(4.3027 * 0.1 * std::sqrt(2)) - 1, 1e-4);
  EXPECT_FALSE(NoiseFloor(kP99, {100, 101}, 5, 5));
  EXPECT_DOUBLE_EQ(*NoiseFloor(kP99, {7, 7, 7}, 5, 5), 0);
}

TEST(NoiseFloorTest, LargeOnesAreFactors) {
  EXPECT_EQ(NoiseText(kP99, 0.499), "±49.9 %");
  EXPECT_EQ(NoiseText(kP99, 45.445), "x46.45");
  EXPECT_EQ(NoiseText(kFailures, 0.5), "±50.000 pp");
}

TEST(NoiseFloorTest, EqualGroupsStayWithinItAsOftenAsPromised) {
  constexpr int kTrials = 4000;
  std::mt19937_64 random(4);
  std::lognormal_distribution<double> run(0, 0.1);
  const auto group_mean = [&](int runs) {
    double sum = 0;
    for (int i = 0; i < runs; ++i) sum += std::log(run(random)) / runs;
    return sum;
  };
  int beyond = 0;
  for (int i = 0; i < kTrials; ++i) {
    std::vector<double> values(6);
    for (double& value : values) value = run(random);
    const double floor = std::log1p(*NoiseFloor(kP99, values, 1, 5));
    beyond += std::abs(group_mean(1) - group_mean(5)) > floor;
  }
  // 4 standard errors.
  EXPECT_NEAR(beyond, 0.05 * kTrials, 55);
}

CompareOptions With(const std::vector<SourcedResults>& noise) {
  CompareOptions options;
  options.metrics = {kP99};
  options.noise_runs = ListRuns(noise);
  return options;
}

TEST(NoiseFloorTest, IsQuotedBesideDifferences) {
  const auto noise = Sourced(
      {RunOf(1'000'000), RunOf(1'030'000), RunOf(970'000), RunOf(1'000'000)});
  const auto within =
      Compared({RunOf(1'000'000)}, {RunOf(1'030'000)}, With(noise));
  EXPECT_THAT(DescribeComparisons(within),
              HasSubstr("; within the noise floor of ±11."));
  const auto beyond =
      Compared({RunOf(1'000'000)}, {RunOf(800'000)}, With(noise));
  EXPECT_THAT(DescribeComparisons(beyond),
              HasSubstr("; beyond the noise floor of ±11."));
  EXPECT_THAT(beyond[0].notes, IsEmpty());
  EXPECT_FALSE(
      Compared({RunOf(1000)}, {RunOf(800)})[0].rpcs[0].metrics[0].noise_floor);
}

TEST(NoiseFloorTest, UnusableRunsAreNoted) {
  const auto note_about = [](std::vector<TestResult> runs) {
    const auto noise = Sourced(std::move(runs));
    const auto compared = Compared({RunOf(1000)}, {RunOf(800)}, With(noise));
    EXPECT_FALSE(compared[0].rpcs[0].metrics[0].noise_floor);
    return compared[0].notes.empty() ? "" : compared[0].notes[0];
  };
  EXPECT_THAT(note_about({RunOf(1000), RunOf(1000)}), HasSubstr("--repeat=10"));
  std::vector<TestResult> runs(3, RunOf(1000));
  runs[1].mutable_run_info()->set_failure("node1 was lost");
  EXPECT_THAT(note_about(runs), HasSubstr("run 2 did not run to its end"));
  runs = std::vector<TestResult>(3, RunOf(1000));
  for (TestResult& run : runs) {
    run.mutable_traffic_config()->add_payload_descriptions()->set_size(7);
  }
  EXPECT_THAT(note_about(runs), HasSubstr("payload_descriptions"));
}

TEST(NoiseFloorTest, OtherConditionsAreNoted) {
  std::vector<TestResult> runs(3, RunOf(1000));
  for (TestResult& run : runs) {
    run.mutable_traffic_config()->set_default_protocol("tcp");
  }
  const auto noise = Sourced(runs);
  const auto compared = Compared({RunOf(1000)}, {RunOf(800)}, With(noise));
  EXPECT_THAT(compared[0].notes, ElementsAre(HasSubstr("noise floor")));
  EXPECT_TRUE(compared[0].rpcs[0].metrics[0].noise_floor);
}

}  // namespace
}  // namespace distbench::report
