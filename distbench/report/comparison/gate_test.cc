// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/comparison/gate.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "distbench/report/comparison/testing/made_runs.h"
#include "distbench/report/comparison/testing/simulated_gates.h"
#include "distbench/report/verdicts/check.h"
#include "distbench/results/message_sums.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/traffic_config.pb.h"

namespace distbench::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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
  EXPECT_THAT(check.evidence, HasSubstr("-0.8 % to +0.8 %"));
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

// Bounds of failures are exact, so Student's power is not theirs.
TEST(GateBoundsTest, PromisesNoPowerForShares) {
  const std::vector<TestResult> base = {RunOf(1000, 99, 1), RunOf(1000, 91, 9)};
  const std::vector<TestResult> next = {RunOf(1000, 96, 4),
                                        RunOf(1000, 88, 12)};
  const std::string evidence = CheckOf("failures>8%", base, next).evidence;
  EXPECT_THAT(evidence, HasSubstr("at this spread, about "));
  EXPECT_THAT(evidence, HasSubstr(" runs of each or more would be needed"));
  EXPECT_THAT(evidence, Not(HasSubstr("of the cases")));
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

// They are in no buckets, and their change is a difference.
TEST(GateBoundsTest, PercentilesOfSharesAreNotWidened) {
  const MetricComparison kept = {.metric = {stats::Metric::Kind::kIsolation, 5},
                                 .verdict = ComparisonVerdict::kBetter,
                                 .reason = "",
                                 .base_values = {0.5, 0.5},
                                 .next_values = {0.75, 0.75}};
  EXPECT_EQ(ResolutionOf(kept), 0);
  const stats::Difference bounds = BoundsOf(kept, 0.05);
  ASSERT_TRUE(bounds.interval.has_value());
  EXPECT_DOUBLE_EQ(bounds.estimate, 0.25);
  EXPECT_DOUBLE_EQ(bounds.interval->lower, 0.25);
  EXPECT_DOUBLE_EQ(bounds.interval->upper, 0.25);
}

// A run of streams with messages at such intervals.
TestResult RunWithGaps(int64_t gap_ns) {
  TestResult result = RunOf(1'000'000);
  results::TallyOf<StreamStatistics> streams;
  streams.count(StreamStatistics::kStreamCountFieldNumber) = 1000;
  streams.histogram(StreamStatistics::kGapNsFieldNumber).RecordN(gap_ns, 1000);
  streams.Encode((*result.mutable_service_logs()
                       ->mutable_instance_logs()
                       ->at("c/0")
                       .mutable_stream_statistics())[0]);
  return result;
}

// Whatever objectives are about, but for what RPCs do not have.
TEST(GateTest, ConditionsAreAboutAnyMetricOfRpcs) {
  const Gate gate = *ParseGate("query:gap_p50>5%");
  CompareOptions options;
  options.metrics.push_back(gate.metric);
  const auto judged = [&](int64_t next_gap_ns) {
    return JudgeGates({gate},
                      Compared(Twice(RunWithGaps(1'000'000)),
                               Twice(RunWithGaps(next_gap_ns)), options))
        .at(0);
  };
  EXPECT_EQ(judged(1'000'000).verdict, CheckVerdict::kPass);
  EXPECT_EQ(judged(2'000'000).verdict, CheckVerdict::kFail);
  EXPECT_THAT(judged(2'000'000).evidence,
              HasSubstr("gap_p50 changed by +100.0 %"));
  for (const char* text : {"cpu>5%", "isol_p05<-5%"}) {
    EXPECT_THAT(std::string(ParseGate(text).status().message()),
                HasSubstr("which RPCs do not have; write it like"));
  }
  EXPECT_THAT(std::string(ParseGate("metric:>5%").status().message()),
              HasSubstr("followed by the name of a server_metrics entry"));
}

// Base has an RPC "query" and one more; of the latter, new sends none.
TEST(GateTest, AnRpcThatVanishedFailsTheConditionsOnIt) {
  TestResult base = RunOf(1'000'000);
  base.mutable_traffic_config()->add_rpc_descriptions()->set_name("extra");
  TestResult next = RunOf(1'000'000);
  CompareOptions options;
  options.allow_different_traffic = true;
  const auto compared = Compared(Twice(base), Twice(next), options);
  const std::vector<Check> any = JudgeGates({*ParseGate("p50>5%")}, compared);
  ASSERT_EQ(any.size(), 2);
  EXPECT_EQ(any[0].verdict, CheckVerdict::kPass);
  EXPECT_EQ(any[1].verdict, CheckVerdict::kFail);
  EXPECT_EQ(any[1].condition, "extra:p50>5%");
  EXPECT_EQ(any[1].evidence, "cannot be judged: new does not have the RPC");
  EXPECT_EQ(JudgeGates({*ParseGate("extra:p50>5%")}, compared).at(0).verdict,
            CheckVerdict::kFail);
  EXPECT_EQ(JudgeGates({*ParseGate("query:p50>5%")}, compared).at(0).verdict,
            CheckVerdict::kPass);
}

// It is wrong usage, whatever else keeps the condition from being judged.
TEST(CheckRpcsTest, SaysWhichRpcAMisspeltOneIs) {
  DistributedSystemDescription test;
  test.add_rpc_descriptions()->set_name("query");
  test.add_rpc_replay_traces()->set_name("recorded");
  const auto check = [&](const std::string& condition) {
    return CheckRpcsOf({*ParseGate(condition)}, {&test});
  };
  EXPECT_EQ(check("quary:p95>10%"),
            absl::InvalidArgumentError(
                "the condition \"quary:p95>10%\": no test has an RPC "
                "\"quary\"; did you mean \"query\"?"));
  for (const char* right :
       {"query:p95>10%", "recorded:p95>10%", "p95>10%", "metric:cpu>10%"}) {
    EXPECT_EQ(check(right), absl::OkStatus()) << right;
  }
  EXPECT_EQ(CheckRpcsOf({*ParseGate("quary:p95>10%")}, {}), absl::OkStatus());
}

}  // namespace

// Gates against runs whose true change is known. bench/gate_error prints
// the figures of docs/error_rates.md from the same simulation.

namespace {

// Ten conditions take thirty times as long as one.
int GatesOf(int conditions) { return conditions == 1 ? 200 : 40; }

// A share of 5 %, plus 3 standard errors.
int MostErrors(int conditions) {
  const double gates = GatesOf(conditions);
  return static_cast<int>(0.05 * gates + 3 * std::sqrt(0.05 * 0.95 * gates));
}

GateExperiment Experiment(double true_ratio, int conditions,
                          bool until_decided) {
  return {.true_ratio = true_ratio,
          .conditions = conditions,
          .runs = until_decided ? 16 : 8,
          .until_decided = until_decided,
          .gates = GatesOf(conditions)};
}

class GateSimulationTest : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(Looks, GateSimulationTest, testing::Bool(),
                         [](const auto& param) {
                           return param.param ? "UntilDecided" : "SingleLook";
                         });

TEST_P(GateSimulationTest, AChangeAtTheMarginIsMisjudgedOneTimeInTwentyAtMost) {
  const GateOutcomes one = SimulateGates(Experiment(1.05, 1, GetParam()));
  EXPECT_LE(one.passed, MostErrors(1));
  EXPECT_LE(one.failed, MostErrors(1));
  // The error is used, or gates would need more runs than necessary.
  EXPECT_GE(one.passed, 1);
  const GateOutcomes ten = SimulateGates(Experiment(1.05, 10, GetParam()));
  EXPECT_LE(ten.any_passed, MostErrors(10));
  EXPECT_LE(ten.failed, MostErrors(10));
}

// Nothing widens the bounds of these.
TEST_P(GateSimulationTest, SoIsOneOfAMeanOrARate) {
  for (const auto& [gate, true_ratio] :
       {std::pair("mean>5%", 1.05), std::pair("rate<-5%", 0.95)}) {
    GateExperiment experiment = Experiment(true_ratio, 1, GetParam());
    experiment.gate = gate;
    const GateOutcomes outcomes = SimulateGates(experiment);
    EXPECT_LE(outcomes.passed, MostErrors(1)) << gate;
    EXPECT_LE(outcomes.failed, MostErrors(1)) << gate;
    EXPECT_GE(outcomes.passed, 1) << gate;
  }
}

TEST_P(GateSimulationTest, EqualsPassAndRegressionsFail) {
  const GateOutcomes equals = SimulateGates(Experiment(1, 1, GetParam()));
  EXPECT_GT(equals.passed, 0.85 * GatesOf(1));
  EXPECT_LT(equals.failed, 0.01 * GatesOf(1));
  const GateOutcomes worse = SimulateGates(Experiment(1.10, 1, GetParam()));
  EXPECT_GT(worse.failed, 0.85 * GatesOf(1));
  EXPECT_LT(worse.passed, 0.01 * GatesOf(1));
}

// A share of 5 %, plus 3 standard errors.
constexpr int kFailureGates = 500;
constexpr int kMostWrong = 40;

// With one to six failures, normal approximations would pass up to 17 % of
// these.
TEST(FailureGateTest, AChangeAtTheMarginIsMisjudgedOneTimeInTwentyAtMost) {
  for (const double base_failures : {0, 10}) {
    for (const double more_failures : {3.2, 6.0, 12.0}) {
      const GateOutcomes outcomes =
          SimulateFailureGates({.base_failures = base_failures,
                                .more_failures = more_failures,
                                .gates = kFailureGates});
      EXPECT_LE(outcomes.passed, kMostWrong) << more_failures;
      EXPECT_LE(outcomes.failed, kMostWrong) << more_failures;
    }
  }
}

TEST(EarlyGateTest, LargeChangesAreDecidedEarly) {
  GateExperiment experiment = Experiment(1.3, 1, /*until_decided=*/true);
  EXPECT_LT(SimulateGates(experiment).mean_runs, 4.5);
}

}  // namespace
}  // namespace distbench::report
