// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/objectives/objectives.h"

#include <string>
#include <vector>

#include "distbench/results/histogram_proto.h"
#include "distbench/results/message_sums.h"
#include "distbench/results/rpc_totals.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// RPCs of 1, 2, ... ms, in a second.
TestResult ResultOf(int count, int failed_count,
                    const std::vector<std::string>& objectives) {
  TestResult result;
  DistributedSystemDescription& config = *result.mutable_traffic_config();
  config.set_name("t");
  config.add_rpc_descriptions()->set_name("query");
  for (const std::string& text : objectives) config.add_objectives(text);
  results::RpcTotals totals;
  for (int i = 1; i <= count; ++i) {
    totals.service_time_ns.Record(i * int64_t{1'000'000});
  }
  totals.counts.succeeded_count = count;
  totals.counts.failed_count = failed_count;
  totals.counts.first_start_timestamp_ns = 0;
  totals.counts.last_end_timestamp_ns = 1'000'000'000;
  auto& client =
      (*result.mutable_service_logs()->mutable_instance_logs())["c/0"];
  totals.Encode(*(*(*client.mutable_peer_logs())["s/0"].mutable_rpc_logs())[0]
                     .mutable_statistics());
  return result;
}

CheckVerdict VerdictOf(const std::string& objective, int count,
                       int failed_count = 0) {
  const std::vector<Check> checks =
      CheckObjectives(ResultOf(count, failed_count, {objective}));
  EXPECT_EQ(checks.size(), 1u);
  return checks.empty() ? CheckVerdict::kUndecided : checks[0].verdict;
}

TEST(CheckObjectivesTest, TheIntervalDecides) {
  // The median of 1 to 1000 ms is 500 ms, with an interval of about 31 ms on
  // either side.
  EXPECT_EQ(VerdictOf("p50<=600ms", 1000), CheckVerdict::kPass);
  EXPECT_EQ(VerdictOf("p50<=510ms", 1000), CheckVerdict::kUndecided);
  EXPECT_EQ(VerdictOf("p50<=400ms", 1000), CheckVerdict::kFail);
  EXPECT_EQ(VerdictOf("mean<=600ms", 1000), CheckVerdict::kPass);
  EXPECT_EQ(VerdictOf("mean<=400ms", 1000), CheckVerdict::kFail);
  EXPECT_EQ(VerdictOf("rate>=900", 1000), CheckVerdict::kPass);
  EXPECT_EQ(VerdictOf("rate>=1000", 1000), CheckVerdict::kUndecided);
  EXPECT_EQ(VerdictOf("rate>=1200", 1000), CheckVerdict::kFail);
}

TEST(CheckObjectivesTest, OneRpcProvesNoRateOrMean) {
  EXPECT_EQ(VerdictOf("rate>=0.1", 1), CheckVerdict::kUndecided);
  EXPECT_EQ(VerdictOf("rate<=1000", 1), CheckVerdict::kUndecided);
  EXPECT_EQ(VerdictOf("goodput>=0.1", 1), CheckVerdict::kUndecided);
  EXPECT_EQ(VerdictOf("mean<=1000s", 1), CheckVerdict::kUndecided);
}

TEST(CheckObjectivesTest, NothingMeasuredKeepsNoLimit) {
  for (const char* objective : {"rate<=100", "goodput<=100", "p50<=1s"}) {
    EXPECT_EQ(VerdictOf(objective, 0), CheckVerdict::kFail) << objective;
  }
}

TEST(CheckObjectivesTest, FewRpcsDoNotProveRareFailures) {
  EXPECT_EQ(VerdictOf("failures<=0.1%", 10), CheckVerdict::kUndecided);
  EXPECT_EQ(VerdictOf("failures<=0.1%", 10'000), CheckVerdict::kPass);
  EXPECT_EQ(VerdictOf("failures<=0.1%", 10'000, 100), CheckVerdict::kFail);
  EXPECT_EQ(VerdictOf("p99.9<=1000s", 100), CheckVerdict::kUndecided);
}

TEST(CheckObjectivesTest, FailuresAreNoLatencies) {
  EXPECT_EQ(VerdictOf("p50<=1000s", 0, 100), CheckVerdict::kFail);
  EXPECT_EQ(VerdictOf("mean<=1000s", 0, 100), CheckVerdict::kFail);
  EXPECT_EQ(VerdictOf("rate>=1", 900, 100), CheckVerdict::kFail);
  EXPECT_EQ(VerdictOf("p99<=1000s", 970, 30), CheckVerdict::kFail);
  // It is uncertain here whether one in a hundred fails.
  EXPECT_EQ(VerdictOf("p99<=1000s", 989, 11), CheckVerdict::kUndecided);
  EXPECT_EQ(VerdictOf("p99<=1000s", 10'000, 11), CheckVerdict::kPass);
}

// Being slow on purpose is no excuse: what failed was not slow.
TEST(CheckObjectivesTest, FailuresMissLowerLimits) {
  EXPECT_EQ(VerdictOf("p50>=5ms", 0, 100), CheckVerdict::kFail);
  EXPECT_EQ(VerdictOf("p99>=5ms", 970, 30), CheckVerdict::kFail);
  EXPECT_EQ(VerdictOf("p50>=5ms", 970, 30), CheckVerdict::kPass);
  // It is uncertain here whether one in a hundred fails.
  for (const int failed_count : {9, 11}) {
    const auto checks = CheckObjectives(
        ResultOf(1000 - failed_count, failed_count, {"p99>=5ms"}));
    EXPECT_EQ(checks[0].verdict, CheckVerdict::kUndecided);
    EXPECT_THAT(checks[0].evidence,
                HasSubstr(" to failed); what failed misses every limit"));
  }
}

TEST(CheckObjectivesTest, AnOverloadedRunMissesAllAndIsNotValid) {
  TestResult result = ResultOf(1000, 0, {"p50<=600ms"});
  result.mutable_run_info()->set_overloaded(true);
  const Check objective = CheckObjectives(result).at(0);
  EXPECT_EQ(objective.verdict, CheckVerdict::kFail);
  EXPECT_EQ(objective.evidence,
            "the test failed: it reached one of its overload_limits");
  const Check run = CheckRun(result, /*allow_invalid=*/true);
  EXPECT_EQ(run.verdict, CheckVerdict::kFail);
  EXPECT_EQ(run.evidence, "failed: it reached one of its overload_limits");
}

// No interval from 0 to 0 around a rate of 970.
TEST(CheckObjectivesTest, SaysWhatWasMeasuredWhereTooMuchFailed) {
  const auto judged =
      JudgeObjectives(ResultOf(970, 30, {"rate>=1", "mean<=1000s"}));
  ASSERT_EQ(judged.size(), 2u);
  for (const JudgedObjective& each : judged) {
    EXPECT_EQ(each.check.verdict, CheckVerdict::kFail);
    EXPECT_THAT(each.check.evidence,
                EndsWith(", 3 % failed, more than the 0.1 % allowed"));
    EXPECT_LT(*each.lower, *each.measured);
    EXPECT_GT(*each.upper, *each.measured);
  }
  EXPECT_EQ(*judged[0].measured, 970);
  EXPECT_EQ(CheckObjectives(ResultOf(0, 100, {"p50<=1s"}))[0].evidence,
            "p50 failed (100 % of the RPCs failed)");
}

TEST(CheckObjectivesTest, AnObjectiveOnFailuresAllowsThem) {
  const auto checks =
      CheckObjectives(ResultOf(1000, 10, {"mean<=1s", "failures<=5%"}));
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[0].verdict, CheckVerdict::kPass);
  EXPECT_EQ(checks[1].verdict, CheckVerdict::kPass);
}

TEST(CheckObjectivesTest, TheOnlyRpcNeedsNoNameToAllowFailures) {
  for (const std::vector<std::string>& objectives :
       {std::vector<std::string>{"query mean<=1s", "failures<=5%"},
        std::vector<std::string>{"mean<=1s", "query failures<=5%"}}) {
    EXPECT_EQ(CheckObjectives(ResultOf(1000, 10, objectives))[0].verdict,
              CheckVerdict::kPass);
  }
}

TEST(CheckObjectivesTest, SaysWhatItJudgedBy) {
  const auto checks = CheckObjectives(ResultOf(1000, 0, {"p50<=600ms"}),
                                      {"p50<=600ms", "rate>=1"});
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[0].test, "t");
  EXPECT_EQ(checks[0].condition, "p50<=600ms");
  EXPECT_THAT(checks[0].evidence, HasSubstr("p50 50"));
  EXPECT_THAT(checks[0].evidence,
              HasSubstr("95 % interval of independent values: 46"));
  EXPECT_EQ(checks[1].condition, "rate>=1");
}

// One RPC over time, of so many milliseconds in each second or, with a step, of
// so many more for each tenth of its RPCs.
TestResult ResultOverTime(const std::vector<int>& milliseconds,
                          const std::vector<std::string>& objectives,
                          int step = 0) {
  TestResult result = ResultOf(0, 0, objectives);
  ServicePerformanceLog& log =
      result.mutable_service_logs()->mutable_instance_logs()->at("c/0");
  RpcTimeSeries& series = (*log.mutable_rpc_time_series())[0];
  series.set_interval_ns(1'000'000'000);
  results::RpcTotals totals;
  for (const int each : milliseconds) {
    stats::LogHistogram latency_ns;
    for (int tenth = 0; tenth < 10; ++tenth) {
      latency_ns.RecordN((each + tenth * step) * int64_t{1'000'000}, 100);
    }
    totals.service_time_ns.Merge(latency_ns);
    RpcInterval& interval = *series.add_intervals();
    interval.set_index(series.intervals_size() - 1);
    interval.set_succeeded_count(1000);
    results::EncodeHistogram(latency_ns, *interval.mutable_service_time_ns());
  }
  totals.counts.succeeded_count = totals.service_time_ns.count();
  totals.Encode(*log.mutable_peer_logs()
                     ->at("s/0")
                     .mutable_rpc_logs()
                     ->at(0)
                     .mutable_statistics());
  return result;
}

// By a tenth of what the latencies of a second differ.
TestResult GrowingResult(const std::vector<std::string>& objectives) {
  return ResultOverTime({10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, objectives,
                        /*step=*/10);
}

TEST(CheckObjectivesTest, LatenciesThatStillGrowKeepNoUpperLimit) {
  const auto judged = JudgeObjectives(GrowingResult(
      {"p50<=1s", "mean<=1s", "p50<=1ms", "p50>=5ms", "rate>=1"}));
  ASSERT_EQ(judged.size(), 5u);
  for (const int i : {0, 1}) {
    EXPECT_EQ(judged[i].check.verdict, CheckVerdict::kUndecided);
    EXPECT_FALSE(judged[i].upper.has_value());
    EXPECT_THAT(judged[i].check.evidence,
                HasSubstr("ms to ?); latencies were still growing: a longer "
                          "run would measure more"));
  }
  // More could only be further beyond these limits.
  EXPECT_EQ(judged[2].check.verdict, CheckVerdict::kFail);
  EXPECT_EQ(judged[3].check.verdict, CheckVerdict::kPass);
  EXPECT_THAT(judged[3].check.evidence, Not(HasSubstr("growing")));
  EXPECT_FALSE(judged[4].has_grown);
}

// What varies or disturbs the load is no sign of a run that was too short.
TEST(CheckObjectivesTest, LatenciesMayGrowByPlan) {
  const auto verdict_of = [](const TestResult& result) {
    return CheckObjectives(result)[0].verdict;
  };
  const TestResult growing = GrowingResult({"p50<=1s"});
  EXPECT_EQ(verdict_of(growing), CheckVerdict::kUndecided);
  TestResult varied = growing;
  varied.mutable_traffic_config()
      ->add_actions()
      ->mutable_iterations()
      ->mutable_arrivals()
      ->add_modulations();
  EXPECT_EQ(verdict_of(varied), CheckVerdict::kPass);
  TestResult disturbed = growing;
  disturbed.mutable_experiment_cell();
  EXPECT_EQ(verdict_of(disturbed), CheckVerdict::kPass);
  TestResult faulty = growing;
  FaultTime& time = *(*faulty.mutable_service_logs()
                           ->mutable_instance_logs()
                           ->at("c/0")
                           .mutable_fault_logs())["freeze"]
                         .add_times();
  time.set_begin_timestamp_ns(1'000'000'000);
  time.set_end_timestamp_ns(3'000'000'000);
  EXPECT_EQ(verdict_of(faulty), CheckVerdict::kPass);
}

// Nobody has to guess why a limit far away is not kept.
TEST(CheckObjectivesTest, SaysWhyABoundIsUnknown) {
  EXPECT_THAT(CheckObjectives(ResultOf(100, 0, {"p99.9<=1000s"}))[0].evidence,
              HasSubstr("ms to ?); the requests are too few for a bound"));
  EXPECT_THAT(
      CheckObjectives(ResultOverTime({10, 30, 20, 10, 30}, {"p50<=1s"}))[0]
          .evidence,
      HasSubstr("? to ?); the requests are too few for a bound, or differ too "
                "much from second to second"));
  // The limit is within the interval.
  EXPECT_THAT(CheckObjectives(ResultOf(1000, 0, {"p50<=510ms"}))[0].evidence,
              Not(HasSubstr("too few")));
}

TEST(CheckObjectivesTest, FailsWhereThereIsNothingToJudge) {
  TestResult result = ResultOf(10, 0, {"other p50<=1s", "p50"});
  auto checks = CheckObjectives(result);
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[0].verdict, CheckVerdict::kFail);
  EXPECT_THAT(checks[0].evidence, HasSubstr("cannot be judged"));
  EXPECT_EQ(checks[1].verdict, CheckVerdict::kFail);
  result.mutable_run_info()->set_failure("node1 was lost");
  EXPECT_THAT(CheckObjectives(result)[0].evidence, HasSubstr("node1 was lost"));
}

TEST(CheckObjectivesTest, VerdictsOnStreamsAreInMilliseconds) {
  TestResult result;
  DistributedSystemDescription& test = *result.mutable_traffic_config();
  RpcSpec& rpc = *test.add_rpc_descriptions();
  rpc.set_name("talk");
  rpc.mutable_stream();
  test.add_objectives("gap_p50<=2ms");
  test.add_objectives("first_message_p50<=1ms");
  ServicePerformanceLog& log =
      (*result.mutable_service_logs()->mutable_instance_logs())["client/0"];
  results::TallyOf<StreamStatistics> streams;
  streams.count(StreamStatistics::kStreamCountFieldNumber) = 1000;
  streams.histogram(StreamStatistics::kFirstMessageNsFieldNumber)
      .RecordN(2'000'000, 1000);
  streams.histogram(StreamStatistics::kGapNsFieldNumber)
      .RecordN(1'000'000, 10'000);
  streams.Encode((*log.mutable_stream_statistics())[0]);
  RpcStatistics& statistics =
      *(*(*log.mutable_peer_logs())["server/0"].mutable_rpc_logs())[0]
           .mutable_statistics();
  statistics.set_succeeded_count(1000);
  const std::vector<Check> checks = CheckObjectives(result);
  ASSERT_EQ(checks.size(), 2);
  EXPECT_EQ(checks[0].verdict, CheckVerdict::kPass) << checks[0].evidence;
  EXPECT_EQ(checks[1].verdict, CheckVerdict::kFail) << checks[1].evidence;
  EXPECT_THAT(checks[1].evidence, HasSubstr("ms to "));
}

// Files for CI systems say so of each test, also of one without objectives.
TEST(CheckRunTest, SaysWhetherTheRunIsValid) {
  TestResult result;
  result.mutable_traffic_config()->set_name("t");
  EXPECT_EQ(CheckRun(result, false).test, "t");
  EXPECT_EQ(CheckRun(result, false).verdict, CheckVerdict::kPass);
  EXPECT_EQ(CheckRun(result, false).evidence, "ok");
  Finding& finding = *result.mutable_run_info()->add_findings();
  finding.set_severity(Finding::WARN);
  finding.set_message("the host was busy");
  EXPECT_EQ(CheckRun(result, false).verdict, CheckVerdict::kPass);
  EXPECT_EQ(CheckRun(result, false).evidence, "warn: the host was busy");
  finding.set_severity(Finding::INVALID);
  EXPECT_EQ(CheckRun(result, false).verdict, CheckVerdict::kFail);
  EXPECT_EQ(CheckRun(result, /*allow_invalid=*/true).verdict,
            CheckVerdict::kPass);
  result.mutable_run_info()->set_failure("node1 was lost");
  EXPECT_EQ(CheckRun(result, /*allow_invalid=*/true).verdict,
            CheckVerdict::kFail);
  EXPECT_EQ(CheckRun(result, false).evidence, "failed: node1 was lost");
}

TEST(CheckRunTest, DamagedLogsMakeARunInvalid) {
  TestResult result;
  (*(*result.mutable_service_logs()->mutable_instance_logs())["client/0"]
        .mutable_pooled_statistics())[0]
      .set_failed_count(-1);
  EXPECT_EQ(CheckRun(result, false).verdict, CheckVerdict::kFail);
  EXPECT_THAT(CheckRun(result, false).evidence,
              HasSubstr("invalid: 1 log is left out because its statistics"));
}

}  // namespace
}  // namespace distbench::report
