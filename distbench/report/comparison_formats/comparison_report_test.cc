#include "distbench/report/comparison_formats/comparison_report.h"

#include <string>
#include <utility>
#include <vector>

#include "distbench/report/comparison/testing/made_runs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

ComparisonReport ReportOf(std::vector<TestResult> base,
                          std::vector<TestResult> next,
                          const std::vector<CheckVerdict>& verdicts = {}) {
  ComparisonReport report;
  report.tests = Compared(std::move(base), std::move(next));
  for (const CheckVerdict verdict : verdicts) {
    report.checks.push_back({.test = "t", .verdict = verdict});
  }
  return report;
}

const std::vector<TestResult>& Fast() {
  static const auto& runs =
      *new std::vector<TestResult>{RunOf(1000), RunOf(1010), RunOf(990)};
  return runs;
}

const std::vector<TestResult>& Slow() {
  static const auto& runs =
      *new std::vector<TestResult>{RunOf(2000), RunOf(2020), RunOf(1980)};
  return runs;
}

TEST(HeadlineTest, IsTheWorstThatApplies) {
  EXPECT_EQ(HeadlineOf(ReportOf(Fast(), Slow())).verdict, "worse");
  EXPECT_EQ(HeadlineOf(ReportOf(Slow(), Fast())).verdict, "better");
  EXPECT_EQ(HeadlineOf(ReportOf(Fast(), Fast())).verdict, "no difference");
  EXPECT_EQ(HeadlineOf(ReportOf({RunOf(1000)}, Slow())).verdict, "not shown");
  EXPECT_EQ(HeadlineOf(ReportOf({}, Slow())).verdict, "not comparable");

  TestResult failed = RunOf(1000);
  failed.mutable_run_info()->set_failure("node1 was lost");
  EXPECT_EQ(
      HeadlineOf(ReportOf(Fast(), {failed}, {CheckVerdict::kFail})).verdict,
      "invalid");
}

TEST(HeadlineTest, ConditionsComeBeforeMetrics) {
  const auto verdict_of = [](const std::vector<CheckVerdict>& verdicts,
                             bool allow_undecided = false) {
    ComparisonReport report = ReportOf(Fast(), Slow(), verdicts);
    report.allow_undecided = allow_undecided;
    return HeadlineOf(report).verdict;
  };
  using enum CheckVerdict;
  EXPECT_EQ(verdict_of({kPass, kPass}), "passed");
  EXPECT_EQ(verdict_of({kPass, kUndecided}), "undecided");
  EXPECT_EQ(verdict_of({kPass, kUndecided}, true), "passed");
  EXPECT_EQ(verdict_of({kFail, kUndecided}, true), "failed");
}

TEST(HeadlineTest, CountsWhatThereIs) {
  // p50, p90, p99, p99.9 and the mean are worse; rate and failures are equal.
  EXPECT_EQ(HeadlineOf(ReportOf(Fast(), Slow(),
                                {CheckVerdict::kFail, CheckVerdict::kPass}))
                .text,
            "Conditions: 1 failed, 1 passed. Metrics: 5 worse, 2 without a "
            "difference shown.");
  EXPECT_EQ(HeadlineOf(ReportOf({}, Slow())).text, "Tests: 1 not compared.");
  EXPECT_EQ(HeadlineOf(ComparisonReport()).text, "Nothing was compared.");
  const Headline single = HeadlineOf(ReportOf({RunOf(1000)}, {RunOf(2000)}));
  EXPECT_EQ(single.text, "Metrics: 7 with too few runs for a verdict.");
  EXPECT_THAT(single.cautions, ElementsAre(HasSubstr("--repeat=5")));
}

TEST(ComparisonReportTest, TheWorstComesFirst) {
  const ComparisonReport report = ReportOf(
      {RunOf(1000, 9000), RunOf(1010, 9090)},
      {RunOf(2000, 18'000), RunOf(2020, 18'180)},
      {CheckVerdict::kPass, CheckVerdict::kUndecided, CheckVerdict::kFail});
  const std::vector<PlacedMetric> metrics = MetricsWorstFirst(report);
  ASSERT_THAT(metrics, SizeIs(7));
  EXPECT_EQ(metrics[0].metric->verdict, ComparisonVerdict::kWorse);
  EXPECT_EQ(metrics[5].metric->verdict, ComparisonVerdict::kBetter);
  EXPECT_EQ(stats::MetricName(metrics[5].metric->metric), "rate");
  EXPECT_EQ(stats::MetricName(metrics[6].metric->metric), "failures");
  const std::vector<Check> checks = ChecksWorstFirst(report);
  EXPECT_EQ(checks[0].verdict, CheckVerdict::kFail);
  EXPECT_EQ(checks[1].verdict, CheckVerdict::kUndecided);
}

}  // namespace
}  // namespace distbench::report
