// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Comparisons of what products measure of whole runs.

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/comparison/gate.h"
#include "distbench/report/comparison/testing/fake_run_metrics.h"
#include "distbench/report/comparison/testing/made_runs.h"
#include "distbench/report/testing/report_testing.h"
#include "distbench/report/verdicts/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Runs that are alike but for a metric, a run for each value.
std::vector<TestResult> RunsWith(const std::vector<double>& values,
                                 FakeRunMetric metric = {.name = "queue"}) {
  std::vector<TestResult> runs;
  for (const double value : values) {
    metric.value = value;
    AddRunMetric(metric, runs.emplace_back(RunOf(1000)));
  }
  return runs;
}

std::vector<TestResult> RunsWithCpu(const std::vector<double>& shares) {
  return RunsWith(shares, {.name = "cpu", .unit = stats::MetricUnit::kShare});
}

const MetricComparison& OnlyMetric(
    const std::vector<TestComparison>& comparisons) {
  EXPECT_THAT(comparisons, SizeIs(1));
  EXPECT_EQ(comparisons[0].not_comparable, "");
  EXPECT_THAT(comparisons[0].metrics, SizeIs(1));
  return comparisons.at(0).metrics.at(0);
}

TEST(RunMetricTest, AShareDiffersByPercentagePoints) {
  const auto compared = Compared(RunsWithCpu({0.30, 0.31, 0.29}),
                                 RunsWithCpu({0.60, 0.61, 0.59}));
  const MetricComparison& cpu = OnlyMetric(compared);
  EXPECT_EQ(cpu.verdict, ComparisonVerdict::kDiffers);
  EXPECT_NEAR(cpu.base, 0.3, 1e-9);
  EXPECT_NEAR(cpu.next, 0.6, 1e-9);
  EXPECT_NEAR(cpu.change.estimate, 0.3, 1e-9);
  EXPECT_THAT(DescribeComparisons(compared),
              HasSubstr("\n  metrics of the test:\n"));
  EXPECT_THAT(
      DescribeComparisons(compared),
      HasSubstr(
          "metric:cpu         30 %         60 % +30.000 pp  +27.733 pp "));
  EXPECT_THAT(DescribeComparisons(compared), HasSubstr(" differs\n"));
  EXPECT_EQ(CountVerdicts(compared)[ComparisonVerdict::kDiffers], 1);
  EXPECT_EQ(CountVerdicts(compared)[ComparisonVerdict::kWorse], 0);
}

// More of it is as little better as less of it.
TEST(RunMetricTest, PositiveValuesDifferByTheirRatio) {
  for (const bool is_rise : {true, false}) {
    auto low = RunsWith({100, 101, 99});
    auto high = RunsWith({200, 202, 198});
    const auto compared = is_rise ? Compared(low, high) : Compared(high, low);
    const MetricComparison& queue = OnlyMetric(compared);
    EXPECT_EQ(queue.verdict, ComparisonVerdict::kDiffers);
    EXPECT_NEAR(queue.change.estimate, is_rise ? 2 : 0.5, 0.01);
  }
}

TEST(RunMetricTest, SpreadAndSingleRunsAreAsForOtherMetrics) {
  EXPECT_EQ(OnlyMetric(Compared(RunsWith({1, 9}), RunsWith({2, 8}))).verdict,
            ComparisonVerdict::kNoDifference);
  const auto single = Compared(RunsWith({1}), RunsWith({2}));
  EXPECT_EQ(OnlyMetric(single).verdict, ComparisonVerdict::kNotShown);
  EXPECT_EQ(VerdictText(OnlyMetric(single)),
            "unknown: a single run has no confidence interval");
}

// An error that was never there has no ratio to one that is.
TEST(RunMetricTest, OtherValuesDifferByTheirDifference) {
  const auto compared = Compared(RunsWith({0, 0, 0}), RunsWith({3, 4, 5}));
  const MetricComparison& queue = OnlyMetric(compared);
  EXPECT_EQ(queue.verdict, ComparisonVerdict::kDiffers);
  EXPECT_FALSE(IsByRatio(queue));
  EXPECT_DOUBLE_EQ(queue.change.estimate, 4);
  EXPECT_EQ(FormatChange(queue, 4), "+4");
  EXPECT_EQ(FormatChange(queue, -0.5), "-0.5");
  EXPECT_EQ(OnlyMetric(Compared(RunsWith({0, 0}), RunsWith({0, 0}))).verdict,
            ComparisonVerdict::kNoDifference);
  const FakeRunMetric lag = {.name = "lag", .unit = stats::MetricUnit::kNs};
  const auto negative = Compared(RunsWith({-2e6}, lag), RunsWith({1e6}, lag));
  EXPECT_EQ(FormatChange(OnlyMetric(negative), 3e6), "+3.000 ms");
}

// ---- What cannot be compared ------------------------------------------------

std::string ReasonFor(std::vector<TestResult> base,
                      std::vector<TestResult> next) {
  const auto compared = Compared(std::move(base), std::move(next));
  EXPECT_EQ(OnlyMetric(compared).verdict, ComparisonVerdict::kNotComparable);
  EXPECT_THAT(
      DescribeComparisons(compared),
      HasSubstr(absl::StrCat("not comparable: ", OnlyMetric(compared).reason)));
  return OnlyMetric(compared).reason;
}

TEST(RunMetricTest, OneSideOrRunWithoutItIsSaid) {
  EXPECT_EQ(ReasonFor(RunsWith({1, 2}), {RunOf(1000), RunOf(1000)}),
            "it is not measured in run 1 of 2 of new");
  EXPECT_EQ(ReasonFor({RunOf(1000)}, RunsWith({1})),
            "it is not measured in run 1 of 1 of base");
  std::vector<TestResult> partly = RunsWith({1});
  partly.push_back(RunOf(1000));
  EXPECT_EQ(ReasonFor(partly, RunsWith({1})),
            "it is not measured in run 2 of 2 of base");
}

TEST(RunMetricTest, AnotherDefinitionIsSaid) {
  const FakeRunMetric other = {.name = "queue", .definition = "another query"};
  EXPECT_EQ(ReasonFor(RunsWith({1, 2}), RunsWith({1, 2}, other)),
            "it is the query \"up\" in run 1 of 2 of base, but another query "
            "in run 1 of 2 of new");
  std::vector<TestResult> mixed = RunsWith({1});
  mixed.push_back(RunsWith({1}, other)[0]);
  EXPECT_EQ(ReasonFor(mixed, RunsWith({1})),
            "it is the query \"up\" in run 1 of 2 of base, but another query "
            "in run 2 of 2 of base");
}

TEST(RunMetricTest, WhyARunHasNoValueIsSaid) {
  const FakeRunMetric unread = {.name = "queue",
                                .problem = "no node has read it"};
  EXPECT_EQ(ReasonFor(RunsWith({1, 1}), RunsWith({1}, unread)),
            "no node has read it in run 1 of 1 of new");
  EXPECT_EQ(ReasonFor(RunsWith({HUGE_VAL}), RunsWith({1})),
            "its value is not finite in run 1 of 1 of base");
}

TEST(RunMetricTest, WhatIsMissingFromAValueIsNoted) {
  std::vector<TestResult> base = RunsWith({1});
  const FakeRunMetric gaps = {.name = "queue", .remark = "1 of 9 failed"};
  for (TestResult& run : RunsWith({1, 1, 1}, gaps)) base.push_back(run);
  const auto compared = Compared(base, RunsWith({1, 1}));
  EXPECT_EQ(OnlyMetric(compared).verdict, ComparisonVerdict::kNoDifference);
  EXPECT_THAT(compared[0].notes,
              Contains("1 of 9 failed in run 2 of 4 of base, and some in 2 "
                       "more"));
}

// What is read of servers is not sent to them.
TEST(RunMetricTest, EntriesOfServerMetricsAreNoTraffic) {
  TestResult watched = RunOf(1000);
  watched.mutable_traffic_config()->add_server_metrics()->set_name("cpu");
  EXPECT_EQ(Compared({RunOf(1000)}, {watched})[0].not_comparable, "");
}

TEST(RunMetricTest, NoiseIsThatOfTheSameMetric) {
  const auto floor_by = [](std::vector<TestResult> runs) {
    const auto noise = Sourced(std::move(runs));
    CompareOptions options;
    options.noise_runs = ListRuns(noise);
    return OnlyMetric(Compared(RunsWith({10, 11}), RunsWith({10, 11}), options))
        .noise_floor;
  };
  ASSERT_TRUE(floor_by(RunsWith({10, 11, 12})));
  EXPECT_GT(*floor_by(RunsWith({10, 11, 12})), 0);
  EXPECT_FALSE(floor_by(RunsWith({10, 11, 0})));
  EXPECT_FALSE(floor_by(RunsWith({10, 11, 12}, {.name = "other"})));
  EXPECT_FALSE(floor_by(
      RunsWith({10, 11, 12}, {.name = "queue", .definition = "another"})));
}

// ---- Conditions -------------------------------------------------------------

std::vector<Check> ChecksOf(const std::string& text,
                            const std::vector<TestComparison>& compared) {
  const absl::StatusOr<Gate> gate = ParseGate(text);
  EXPECT_TRUE(gate.ok()) << gate.status();
  return JudgeGates({*gate}, compared);
}

Check CheckOf(const std::string& text,
              const std::vector<TestComparison>& compared) {
  const std::vector<Check> checks = ChecksOf(text, compared);
  EXPECT_THAT(checks, SizeIs(1));
  return checks.at(0);
}

TEST(RunMetricGateTest, IsJudgedInItsDirectionOnly) {
  const auto compared =
      Compared(RunsWith({100, 101, 99}), RunsWith({200, 202, 198}));
  const Check rise = CheckOf("metric:queue>50%", compared);
  EXPECT_EQ(rise.verdict, CheckVerdict::kFail);
  EXPECT_EQ(rise.condition, "metric:queue>50%");
  EXPECT_THAT(rise.evidence, HasSubstr("metric:queue changed by +100."));
  EXPECT_EQ(CheckOf("metric:queue>150%", compared).verdict,
            CheckVerdict::kPass);
  EXPECT_EQ(CheckOf("metric:queue<-5%", compared).verdict, CheckVerdict::kPass);
  // Of RPCs there is no other verdict for it.
  EXPECT_EQ(CheckOf("p99>50%", compared).verdict, CheckVerdict::kPass);
}

// There are no RPCs that were counted: Student's bounds are those of the runs.
TEST(RunMetricGateTest, OfAShareIsInPercentagePoints) {
  const auto compared = Compared(RunsWithCpu({0.30, 0.31, 0.29}),
                                 RunsWithCpu({0.60, 0.61, 0.59}));
  EXPECT_EQ(CheckOf("metric:cpu>25%", compared).verdict, CheckVerdict::kFail);
  EXPECT_EQ(CheckOf("metric:cpu>35%", compared).verdict, CheckVerdict::kPass);
  EXPECT_THAT(
      CheckOf("metric:cpu>25%", compared).evidence,
      HasSubstr(
          "changed by +30.0 percentage points (one-sided 95 % bounds: +2"));
  EXPECT_THAT(CheckOf("metric:cpu>31%", compared).evidence,
              HasSubstr("runs of each would decide in 80 % of the cases"));
}

TEST(RunMetricGateTest, WhatCannotBeJudgedFails) {
  const auto evidence_of = [](const std::string& gate,
                              std::vector<TestResult> base,
                              std::vector<TestResult> next) {
    const Check check =
        CheckOf(gate, Compared(std::move(base), std::move(next)));
    EXPECT_EQ(check.verdict, CheckVerdict::kFail);
    return check.evidence;
  };
  EXPECT_EQ(evidence_of("metric:lag>5%", RunsWith({1}), RunsWith({1})),
            "cannot be judged: no test measures metric:lag");
  EXPECT_EQ(evidence_of("metric:queue>5%", RunsWith({1}), {RunOf(1000)}),
            "cannot be judged: it is not measured in run 1 of 1 of new");
  EXPECT_EQ(evidence_of("metric:queue>5%", RunsWith({0, 0}), RunsWith({1, 1})),
            "cannot be judged: not all of its values are above 0, so that no "
            "percentage says how much they changed");
  TestResult other = RunsWith({1})[0];
  other.mutable_traffic_config()->add_payload_descriptions()->set_size(1);
  EXPECT_THAT(evidence_of("metric:queue>5%", RunsWith({1}), {other}),
              HasSubstr("the traffic differs"));
}

TEST(RunMetricGateTest, SingleRunsDoNotDecide) {
  EXPECT_EQ(CheckOf("metric:queue>5%", Compared(RunsWith({1}), RunsWith({2})))
                .verdict,
            CheckVerdict::kUndecided);
}

TEST(RunMetricGateTest, TheNameIsThatOfAMetricAndOfNoRpc) {
  EXPECT_EQ(ParseGate("metric:p99>5%")->rpc, "");
  EXPECT_EQ(ParseGate("metric:p99>5%")->metric.kind,
            stats::Metric::Kind::kServerMetric);
  EXPECT_EQ(ParseGate("metric2:p99>5%")->rpc, "metric2");
  EXPECT_FALSE(ParseGate("query:metric:cpu>5%").ok());
  EXPECT_FALSE(ParseGate("metric:>5%").ok());
  EXPECT_FALSE(ParseGate("cpu>5%").ok());
  CompareOptions options;
  AddMetricOf(*ParseGate("metric:cpu>5%"), options);
  AddMetricOf(*ParseGate("p99>5%"), options);
  EXPECT_EQ(options.metrics, stats::DefaultMetrics());
  AddMetricOf(*ParseGate("goodput<-5%"), options);
  EXPECT_THAT(options.metrics, SizeIs(stats::DefaultMetrics().size() + 1));
}

}  // namespace
}  // namespace distbench::report
