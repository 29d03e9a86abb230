// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Findings on what open loops sent, and when.

#include <cstdint>
#include <random>

#include "distbench/report/findings/testing/judge_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// ---- unsent_load, held_back -------------------------------------------------

TEST_F(JudgeTest, MuchUnsentLoadMakesTheRunInvalid) {
  Load().set_unsent_count(31);
  EXPECT_THAT(ExpectOne(Finding::INVALID, "unsent_load"),
              HasSubstr("31 of 3000 RPCs that were due (1.03 %)"));
}

TEST_F(JudgeTest, UnsentLoadIsBlamedOnACapOnlyWhereThereIsOne) {
  Load().set_unsent_count(31);
  const Finding without_cap = Find("unsent_load");
  EXPECT_THAT(without_cap.message(), HasSubstr("because full send queues"));
  EXPECT_THAT(without_cap.advice(), Not(HasSubstr("max_parallel_iterations")));
  Loop().set_max_parallel_iterations(5);
  const Finding with_cap = Find("unsent_load");
  EXPECT_THAT(with_cap.message(),
              HasSubstr("because max_parallel_iterations or full send"));
  EXPECT_THAT(with_cap.advice(), HasSubstr("raise max_parallel_iterations"));
  // The list may send it.
  Action& action = *result_.mutable_traffic_config()->mutable_actions(0);
  action.clear_rpc_name();
  action.set_action_list_name("request");
  EXPECT_THAT(Find("unsent_load").message(),
              HasSubstr("max_parallel_iterations"));
}

TEST_F(JudgeTest, ALittleUnsentLoadDoesNot) {
  Load().set_unsent_count(30);
  ExpectOne(Finding::WARN, "unsent_load");
  Load().set_unsent_count(1);
  ExpectOne(Finding::NOTE, "unsent_load");
}

TEST_F(JudgeTest, ACapThatIsHitOftenIsAWarning) {
  Load().set_held_back_count(31);
  EXPECT_THAT(ExpectOne(Finding::WARN, "held_back"),
              HasSubstr("max_parallel_iterations delayed 31 RPCs (1.03 %)"));
}

TEST_F(JudgeTest, ACapThatIsHitOnceIsANote) {
  Load().set_held_back_count(1);
  ExpectOne(Finding::NOTE, "held_back");
}

// ---- late_sends -------------------------------------------------------------

TEST_F(JudgeTest, ATailThatIsTheGeneratorsOwnMakesTheRunInvalid) {
  *Statistics().mutable_lateness_ns() = Repeated(2'000'000, 3000);
  *Statistics().mutable_response_time_ns() = Repeated(3'000'000, 3000);
  EXPECT_THAT(
      ExpectOne(Finding::INVALID, "late_sends"),
      HasSubstr("1 in a hundred sends were late by 2.00 ms or more, "
                "which is 66.7 % of p99 of the response time (3.00 ms)"));
}

// Tables rank those that failed above all others: p99 may be one of them.
TEST_F(JudgeTest, PercentilesWithoutFailuresSayThatTheyAre) {
  Load().set_offered_count(3100);
  Statistics().set_failed_count(100);
  *Statistics().mutable_lateness_ns() = Repeated(2'000'000, 3000);
  *Statistics().mutable_response_time_ns() = Repeated(3'000'000, 3000);
  EXPECT_THAT(Find("late_sends").message(),
              HasSubstr("of p99 of the response time of RPCs that succeeded "
                        "(3.00 ms)"));
}

// The records of a trace are due at their times, as requests of a rate are.
TEST_F(JudgeTest, ReplaysAreJudgedAsOtherOpenLoops) {
  DistributedSystemDescription& test = *result_.mutable_traffic_config();
  test.add_rpc_replay_traces()->set_name("trace");
  test.clear_rpc_descriptions();
  *Statistics().mutable_lateness_ns() = Repeated(2'000'000, 3000);
  *Statistics().mutable_response_time_ns() = Repeated(3'000'000, 3000);
  EXPECT_EQ(Find("late_sends").severity(), Finding::INVALID);
  EXPECT_THAT(Find("late_sends").message(), StartsWith("trace: "));
  Load().set_unsent_count(Load().offered_count() / 10);
  EXPECT_EQ(Find("unsent_load").severity(), Finding::INVALID);
}

// A percentile with fewer than ten RPCs beyond it is chance.
TEST_F(JudgeTest, FewSendsAreJudgedByALowerPercentile) {
  *Statistics().mutable_lateness_ns() = Repeated(2'000'000, 401);
  *Statistics().mutable_response_time_ns() = Repeated(3'000'000, 401);
  EXPECT_THAT(Find("late_sends").message(),
              HasSubstr("5 in a hundred sends were late by 2.00 ms or more, "
                        "which is 66.7 % of p95 "));
  *Statistics().mutable_lateness_ns() = Repeated(2'000'000, 100);
  EXPECT_THAT(Find("late_sends").message(), HasSubstr(" of p90 "));
  *Statistics().mutable_lateness_ns() = Repeated(2'000'000, 99);
  EXPECT_EQ(Find("late_sends").message(), "");
}

TEST_F(JudgeTest, SomeLatenessIsAWarning) {
  *Statistics().mutable_lateness_ns() = Repeated(200'000, 3000);
  *Statistics().mutable_response_time_ns() = Repeated(1'200'000, 3000);
  ExpectOne(Finding::WARN, "late_sends");
}

TEST_F(JudgeTest, LatenessThatTheResponseTimeDwarfsIsNothing) {
  *Statistics().mutable_lateness_ns() = Repeated(2'000'000, 3000);
  *Statistics().mutable_response_time_ns() = Repeated(100'000'000, 3000);
  ExpectNothing();
}

TEST_F(JudgeTest, LatenessOfAWakeUpIsNothing) {
  *Statistics().mutable_lateness_ns() = Repeated(60'000, 3000);
  *Statistics().mutable_response_time_ns() = Repeated(100'000, 3000);
  ExpectNothing();
}

TEST_F(JudgeTest, LatenessThatTheCapCausedIsTheCaps) {
  *Statistics().mutable_lateness_ns() = Repeated(50'000'000, 3000);
  *Statistics().mutable_response_time_ns() = Repeated(51'000'000, 3000);
  Load().set_held_back_count(1500);
  ExpectOne(Finding::WARN, "held_back");
}

// ---- arrivals ---------------------------------------------------------------

TEST_F(JudgeTest, AConstantRateThatIsNotIsAWarning) {
  // A pause of one second, and its consequence.
  SendPerSecond([](int i) { return i == 10 ? 0 : i == 11 ? 200 : 100; });
  EXPECT_THAT(
      ExpectOne(Finding::WARN, "arrivals"),
      HasSubstr("query of client/0 should have been sent at a constant rate"));
}

TEST_F(JudgeTest, AConstantRateMayBreatheAtTheEdgesOfSeconds) {
  SendPerSecond([](int i) { return 100 + i % 2; });
  ExpectNothing();
}

TEST_F(JudgeTest, APoissonProcessIsOne) {
  Loop().set_open_loop_interval_distribution("exponential");
  for (int seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    std::poisson_distribution<int64_t> count(100);
    SendPerSecond([&](int) { return count(random); });
    ExpectNothing();
  }
}

TEST_F(JudgeTest, APoissonProcessThatBunchesIsAWarning) {
  Loop().set_open_loop_interval_distribution("exponential");
  SendPerSecond([](int i) { return i % 2 == 0 ? 60 : 140; });
  EXPECT_THAT(ExpectOne(Finding::WARN, "arrivals"), HasSubstr("Poisson"));
}

TEST_F(JudgeTest, APoissonProcessThatIsTooEvenIsAWarning) {
  Loop().set_open_loop_interval_distribution("exponential");
  ExpectOne(Finding::WARN, "arrivals");
}

TEST_F(JudgeTest, AFanoutMultipliesWhatIsSent) {
  Loop().set_open_loop_interval_distribution("exponential");
  std::mt19937_64 random(1);
  std::poisson_distribution<int64_t> count(100);
  SendPerSecond([&](int) { return 8 * count(random); });
  ExpectNothing();
}

TEST_F(JudgeTest, ADrawnNumberOfTargetsIsNoArrival) {
  SendPerSecond([](int i) { return i % 2 == 0 ? 90 : 110; });
  ExpectOne(Finding::WARN, "arrivals");
  result_.mutable_traffic_config()
      ->mutable_rpc_descriptions(0)
      ->set_fanout_filter("stochastic{0.7:1,0.3:4}");
  ExpectNothing();
}

TEST_F(JudgeTest, ArrivalsOfABurstAreNotJudged) {
  Loop().set_open_loop_interval_distribution("sync_burst");
  SendPerSecond([](int i) { return 100 * (i % 4); });
  ExpectNothing();
}

}  // namespace
}  // namespace distbench::report
