// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/findings/findings.h"

#include <cstdint>
#include <random>
#include <string>

#include "distbench/base/testing/proto_testing.h"
#include "distbench/base/time_units.h"
#include "distbench/report/findings/testing/judge_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::report {

// For each finding of findings.cc: a result that provokes it, and one that must
// not.

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(JudgeTest, AGoodRunHasNoFindings) { ExpectNothing(); }

TEST_F(JudgeTest, AGoodClosedLoopHasNoFindings) {
  CloseLoop();
  ExpectNothing();
}

TEST_F(JudgeTest, AnEmptyResultIsJudgedToo) {
  result_ = TestResult();
  ExpectOne(Finding::WARN, "nothing_measured");
}

TEST_F(JudgeTest, RpcsOfWhichNoneWasMeasuredAreInvalid) {
  result_ = TestResult();
  result_.mutable_traffic_config()->add_rpc_descriptions()->set_name("query");
  ExpectOne(Finding::INVALID, "nothing_measured");
}

TEST_F(JudgeTest, AFailureExplainsThatNothingWasMeasured) {
  result_ = TestResult();
  result_.mutable_run_info()->set_failure("node1 was lost");
  ExpectNothing();
}

// ---- mostly_warmup ----------------------------------------------------------

TEST_F(JudgeTest, AFewMeasuredRpcsAfterALongWarmUpAreAWarning) {
  Statistics().set_succeeded_count(999);
  Statistics().set_warmup_count(8'992);
  EXPECT_THAT(ExpectOne(Finding::WARN, "mostly_warmup"),
              HasSubstr("query: only 999 RPCs were measured, within "));
}

TEST_F(JudgeTest, AWarmUpThatLeavesATenthIsNothing) {
  Statistics().set_succeeded_count(999);
  Statistics().set_warmup_count(8'991);
  ExpectNothing();
}

TEST_F(JudgeTest, AWarmUpThatLeavesEnoughIsNothing) {
  Statistics().set_warmup_count(1'000'000);
  Statistics().set_first_start_timestamp_ns(1);
  Statistics().set_last_end_timestamp_ns(2 * base::kNsPerSecond + 1);
  ExpectNothing();
}

TEST_F(JudgeTest, ManyRpcsWithinAMomentAreNotEnough) {
  Statistics().set_warmup_count(1'000'000);
  Statistics().set_first_start_timestamp_ns(1);
  Statistics().set_last_end_timestamp_ns(base::kNsPerMs + 1);
  EXPECT_THAT(ExpectOne(Finding::WARN, "mostly_warmup"),
              HasSubstr("within 1.00 ms"));
}

TEST_F(JudgeTest, ThatNothingWasMeasuredIsSaidOnce) {
  Statistics() = RpcStatistics();
  Statistics().set_warmup_count(57);
  EXPECT_THAT(ExpectOne(Finding::INVALID, "nothing_measured"),
              HasSubstr("0 failed, and 57 were warm-up"));
  EXPECT_THAT(Find("nothing_measured").advice(), HasSubstr("warm-up"));
}

TEST_F(JudgeTest, WhatWasNeverSentIsNamedWhereNothingSucceeded) {
  Statistics().Clear();
  Load().set_unsent_count(3000);
  EXPECT_THAT(Find("nothing_measured").message(),
              HasSubstr("0 failed, 3000 were never sent, and 0 were warm-up"));
}

// ---- failed_rpcs, samples_dropped -------------------------------------------

TEST_F(JudgeTest, ManyFailuresAreAWarning) {
  Statistics().set_failed_count(31);
  EXPECT_THAT(ExpectOne(Finding::WARN, "failed_rpcs"),
              HasSubstr("query: 31 of 3031 RPCs (1.02 %) failed;"));
}

// An objective says the same, of the same RPCs.
TEST_F(JudgeTest, FailuresAreThoseOfTheObjective) {
  Load().set_offered_count(8000);
  Load().set_unsent_count(721);
  *Statistics().mutable_response_time_ns() = Repeated(1'010'000, 7257);
  Statistics().set_succeeded_count(7257);
  Statistics().set_failed_count(22);
  EXPECT_THAT(Find("failed_rpcs").message(),
              HasSubstr("743 of 8000 RPCs (9.29 %) failed, 721 of them because "
                        "they were never sent"));
}

// The load has none of these, nor has the response time.
TEST_F(JudgeTest, FailuresOfHandlersThatSendTheRpcTooCount) {
  *Statistics().mutable_response_time_ns() = Repeated(1'010'000, 2999);
  Statistics().set_failed_count(301);
  EXPECT_THAT(Find("failed_rpcs").message(),
              HasSubstr("301 of 3301 RPCs (9.12 %) failed;"));
  EXPECT_EQ(Find("failed_rpcs").severity(), Finding::WARN);
}

TEST_F(JudgeTest, WhatWasNeverSentIsNoOtherFailure) {
  Load().set_unsent_count(31);
  Statistics().set_failed_count(31);
  *Statistics().mutable_response_time_ns() = Repeated(1'010'000, 2969);
  ExpectOne(Finding::INVALID, "unsent_load");
}

TEST_F(JudgeTest, MoreFailuresThanAnswersAreInvalid) {
  Statistics().set_failed_count(Statistics().succeeded_count() + 1);
  ExpectOne(Finding::INVALID, "failed_rpcs");
  Statistics().set_failed_count(Statistics().succeeded_count() - 1);
  ExpectOne(Finding::WARN, "failed_rpcs");
}

TEST_F(JudgeTest, FewFailuresAreANote) {
  Statistics().set_failed_count(1);
  ExpectOne(Finding::NOTE, "failed_rpcs");
}

TEST_F(JudgeTest, DroppedSamplesAreANote) {
  Statistics().set_dropped_sample_count(5);
  EXPECT_THAT(ExpectOne(Finding::NOTE, "samples_dropped"),
              HasSubstr("samples of 5 RPCs"));
}

TEST_F(JudgeTest, SamplesThatNobodyWantedAreNotMissed) {
  Statistics().set_dropped_sample_count(5);
  result_.mutable_traffic_config()->set_sample_memory_bytes(0);
  ExpectNothing();
}

// ---- brief_pairs, wide_intervals --------------------------------------------

TEST_F(JudgeTest, PairsWithoutHistogramsAreANote) {
  Statistics().clear_service_time_ns();
  ValueMoments& moments = *Statistics().mutable_service_time_moments();
  moments.set_count(1);
  moments.set_min(1);
  moments.set_max(1);
  EXPECT_THAT(ExpectOne(Finding::NOTE, "brief_pairs"),
              HasSubstr("1 of 1 combinations"));
}

TEST_F(JudgeTest, WideIntervalsAreANote) {
  WidenIntervals();
  EXPECT_THAT(ExpectOne(Finding::NOTE, "wide_intervals"),
              HasSubstr("intervals of 4 s"));
}

// Ignoring the length of the intervals would make the rate look four times as
// high.
TEST_F(JudgeTest, ArrivalsAreJudgedByTheLengthOfTheIntervals) {
  WidenIntervals();
  Loop().set_open_loop_interval_distribution("exponential");
  std::mt19937_64 random(1);
  std::poisson_distribution<int64_t> arrivals(400);
  SendPerSecond([&](int) { return arrivals(random); });
  ExpectOne(Finding::NOTE, "wide_intervals");
  SendPerSecond([](int i) { return i % 2 == 0 ? 200 : 600; });
  EXPECT_THAT(Find("arrivals").message(), HasSubstr("intervals of 4 s"));
}

TEST_F(JudgeTest, TimesAreToldInSeconds) {
  WidenIntervals();
  for (int i = 0; i < kJudgedSeconds; ++i) {
    *Series().mutable_intervals(i)->mutable_service_time_ns() =
        Repeated(i < 10 ? 3'000'000 : 1'000'000 + 10'000 * (i % 3), 100);
  }
  EXPECT_THAT(Find("not_steady").message(),
              AllOf(HasSubstr("in the first 20 s "), HasSubstr("last 56 s "),
                    HasSubstr("medians of intervals of 4 s")));
}

// ---- measurements_lost ------------------------------------------------------

TEST_F(JudgeTest, LostMeasurementsAreAWarning) {
  result_.mutable_run_info()->set_start_timestamp_ns(kJudgedFirstSecond *
                                                     base::kNsPerSecond);
  Log().set_measurements_end_timestamp_ns((kJudgedFirstSecond + 7) *
                                          base::kNsPerSecond);
  EXPECT_THAT(
      ExpectOne(Finding::WARN, "measurements_lost"),
      HasSubstr("client/0: its measurements end 7 s after the start, at "
                "2023-11-14 22:13:27 UTC; the rest is lost"));
  Log().set_measurements_end_timestamp_ns(0);
  EXPECT_THAT(ExpectOne(Finding::WARN, "measurements_lost"),
              HasSubstr("client/0: none of its measurements are left"));
}

int ExitCodeOf(const std::string& text, bool allow_invalid = false) {
  const auto results = base::FromText<TestSequenceResults>(text);
  return ExitCodeFor(results, allow_invalid);
}

TEST(VerdictTest, TestsThatRanToTheirEndAreFine) {
  EXPECT_EQ(ExitCodeOf("test_results {} test_results { run_info {} }"), 0);
}

TEST(VerdictTest, NotesAndWarningsAreFine) {
  EXPECT_EQ(ExitCodeOf(R"(test_results {
                            run_info {
                              findings { severity: NOTE }
                              findings { severity: WARN }
                            }
                          })"),
            0);
}

TEST(VerdictTest, AnyFailureCounts) {
  EXPECT_EQ(ExitCodeOf(R"(test_results {}
                          test_results { run_info { failure: "" } }
                          test_results {})"),
            3);
}

TEST(VerdictTest, AnyInvalidFindingCounts) {
  EXPECT_EQ(ExitCodeOf(R"(test_results {}
                          test_results {
                            run_info {
                              findings { severity: NOTE }
                              findings { severity: INVALID }
                            }
                          })"),
            3);
}

TEST(VerdictTest, WhatIsInvalidMayBeAllowedButNotAFailure) {
  EXPECT_EQ(ExitCodeOf("test_results { run_info { findings { "
                       "severity: INVALID } } }",
                       /*allow_invalid=*/true),
            0);
  EXPECT_EQ(ExitCodeOf("test_results { run_info { failure: '' findings { "
                       "severity: INVALID } } }",
                       /*allow_invalid=*/true),
            3);
}

TEST_F(JudgeTest, WorkThatTheSystemRefusedIsAWarning) {
  ActivityLog& log = (*Log().mutable_activity_logs())["hog"];
  ActivityMetric& iterations = *log.add_activity_metrics();
  iterations.set_name("iteration_count");
  iterations.set_value_int(20);
  ActivityMetric& failed = *log.add_activity_metrics();
  failed.set_name("failed_operations");
  failed.set_value_int(3);
  EXPECT_THAT(ExpectOne(Finding::WARN, "failed_operations"),
              HasSubstr("hog: 3 operations failed, in 20 iterations"));
  failed.set_value_int(0);
  ExpectNothing();
}

// The hosts of a simulation have no other programs, and its clocks are right.
TEST_F(JudgeTest, WhatOnlyRealHostsHaveIsNotSaidOfSimulatedOnes) {
  UseCpus(3'900'000'000, 1'000'000'000);
  Counters().set_steal_cpu_ns(2'000'000'000);
  ClockFor("node0", 50'000'000);
  EXPECT_NE(Find("other_load").message(), "");
  EXPECT_NE(Find("clock_error").message(), "");
  result_.mutable_simulation();
  ExpectNothing();
}

TEST_F(JudgeTest, LateSendsOfASimulationAreNotMendedBySpinning) {
  *Statistics().mutable_lateness_ns() = Repeated(20'000'000, 3000);
  *Statistics().mutable_response_time_ns() = Repeated(21'000'000, 3000);
  EXPECT_THAT(Find("late_sends").advice(), HasSubstr("spin"));
  result_.mutable_simulation();
  EXPECT_THAT(Find("late_sends").advice(),
              AllOf(HasSubstr("simulated"), Not(HasSubstr("spin"))));
}

}  // namespace
}  // namespace distbench::report
