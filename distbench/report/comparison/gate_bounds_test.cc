#include "distbench/report/comparison/gate_bounds.h"

#include <cmath>
#include <string>
#include <vector>

#include "distbench/report/comparison/gate.h"
#include "distbench/report/comparison/testing/made_runs.h"
#include "distbench/report/verdicts/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::HasSubstr;

Check CheckOf(const std::string& gate, std::vector<TestResult> base,
              std::vector<TestResult> next) {
  const auto compared = Compared(std::move(base), std::move(next));
  return JudgeGates({*ParseGate(gate)}, compared).at(0);
}

std::vector<TestResult> Twice(const TestResult& run) { return {run, run}; }

// A change of 0.4 % may hide in a bucket.
TEST(GateBoundsTest, RunsThatAreAlikeAreNoMoreCertainThanTheirHistograms) {
  const auto base = Twice(RunOf(1'000'000));
  EXPECT_EQ(CheckOf("p99>5%", base, base).verdict, CheckVerdict::kPass);
  const Check check = CheckOf("p99>0.5%", base, base);
  EXPECT_EQ(check.verdict, CheckVerdict::kUndecided);
  EXPECT_THAT(check.evidence, HasSubstr("-0.8% to +0.8%"));
  EXPECT_THAT(check.evidence, HasSubstr("the limit is that close"));
}

// None of 200 RPCs failed: as many as 3 in 200 might.
TEST(GateBoundsTest, NoFailuresAmongFewRpcsAreNoProof) {
  const auto few = Twice(RunOf(1000, 100));
  const Check check = CheckOf("failures>0.1%", few, few);
  EXPECT_EQ(check.verdict, CheckVerdict::kUndecided);
  EXPECT_THAT(check.evidence, HasSubstr("-1.5 percentage points to +1.5"));
  EXPECT_THAT(check.evidence, HasSubstr("longer or more runs would decide"));
  const auto many = Twice(RunOf(1000, 10'000));
  EXPECT_EQ(CheckOf("failures>0.1%", many, many).verdict, CheckVerdict::kPass);
}

// Both runs lost one of 100 RPCs: between 0.1 % and 3 % might fail.
TEST(GateBoundsTest, EqualSharesOfFailuresHaveTheSpreadOfTheirRpcs) {
  const auto base = Twice(RunOf(1000, 99, 1));
  EXPECT_EQ(CheckOf("failures>1%", base, base).verdict,
            CheckVerdict::kUndecided);
  EXPECT_EQ(CheckOf("failures>3%", base, base).verdict, CheckVerdict::kPass);
}

TEST(GateBoundsTest, ASpreadBetweenRunsIsNotWidened) {
  const auto compared = Compared({RunOf(1'000'000), RunOf(1'200'000)},
                                 {RunOf(1'100'000), RunOf(1'300'000)});
  const MetricComparison& p50 = compared[0].rpcs[0].metrics[0];
  const stats::Difference bounds = BoundsOf(p50, 0.05);
  const stats::Difference welch = ChangeOf(p50, 0.9);
  EXPECT_DOUBLE_EQ(bounds.interval->lower, welch.interval->lower);
  EXPECT_DOUBLE_EQ(bounds.interval->upper, welch.interval->upper);
  EXPECT_FALSE(
      BoundsOf(Compared({RunOf(1000)}, {RunOf(1000)})[0].rpcs[0].metrics[0],
               0.05)
          .interval);
}

}  // namespace
}  // namespace distbench::report
