// For each finding of judge.cc: a result that provokes it, and one that must
// not.

#include <cstdint>
#include <random>

#include "distbench/base/time_units.h"
#include "distbench/report/findings/testing/judge_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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

// ---- failed_rpcs, samples_dropped -------------------------------------------

TEST_F(JudgeTest, ManyFailuresAreAWarning) {
  Statistics().set_failed_count(31);
  EXPECT_THAT(ExpectOne(Finding::WARN, "failed_rpcs"), HasSubstr("31 RPCs"));
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
  EXPECT_THAT(Find("arrivals"), HasSubstr("intervals of 4 s"));
}

TEST_F(JudgeTest, TimesAreToldInSeconds) {
  WidenIntervals();
  for (int i = 0; i < kJudgedSeconds; ++i) {
    *Series().mutable_intervals(i)->mutable_service_time_ns() =
        Repeated(i < 10 ? 3'000'000 : 1'000'000 + 10'000 * (i % 3), 100);
  }
  EXPECT_THAT(Find("not_steady"),
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

}  // namespace
}  // namespace distbench::report
