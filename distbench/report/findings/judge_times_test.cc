// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdint>
#include <random>

#include "distbench/report/findings/testing/judge_testing.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::report {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(JudgeTest, LatenciesThatSettleDuringTheRunAreAWarning) {
  for (int i = 0; i < kJudgedSeconds; ++i) {
    const auto median = static_cast<int64_t>(
        1'000'000 * (1 + std::exp(-i / 4.0)) + 10'000 * (i % 3));
    *Series().mutable_intervals(i)->mutable_service_time_ns() =
        Repeated(median, 100);
  }
  EXPECT_THAT(ExpectOne(Finding::WARN, "not_steady"), HasSubstr("Geweke"));
}

TEST_F(JudgeTest, LatenciesThatSettleDuringTheWarmupAreNot) {
  for (int i = 0; i < 10; ++i) {
    RpcInterval& interval = *Series().mutable_intervals(i);
    *interval.mutable_service_time_ns() = Repeated(5'000'000, 100);
    interval.set_warmup_count(100);
  }
  ExpectNothing();
}

TEST_F(JudgeTest, NoiseIsNoTrend) {
  for (int seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    std::lognormal_distribution<double> median(std::log(1e6), 0.2);
    for (RpcInterval& interval : *Series().mutable_intervals()) {
      *interval.mutable_service_time_ns() =
          Repeated(static_cast<int64_t>(median(random)), 100);
    }
    ExpectNothing();
  }
}

using ::testing::AllOf;

class StallsTest : public JudgeTest {
 protected:
  StallsTest() { CloseLoop(); }

  // RPCs of `usual_ns`, and ten of `long_ns`, as if ten had been in flight when
  // the server stalled.
  void Serve(int64_t usual_count, int64_t usual_ns, int64_t long_ns) {
    stats::LogHistogram times;
    times.RecordN(usual_ns, usual_count);
    times.RecordN(long_ns, 10);
    results::EncodeHistogram(times, *Statistics().mutable_service_time_ns());
  }
};

TEST_F(StallsTest, AStallThatFewRpcsShowIsAWarning) {
  // Of 36 s, 6 s. In 1 % of the time more than (6 - 0.36) / 10 s are left, plus
  // the error of a bucket.
  Serve(100'000, 300'000, 600'000'000);
  EXPECT_THAT(ExpectOne(Finding::WARN, "stalls"),
              AllOf(HasSubstr("more than 56"), HasSubstr("only 0.01 %"),
                    HasSubstr("took 16.7 %"), HasSubstr("not of 300 us")));
}

TEST_F(StallsTest, SaysThatItIsWithoutFailures) {
  Serve(100'000, 300'000, 600'000'000);
  Statistics().set_failed_count(1);
  EXPECT_THAT(Find("stalls").message(),
              EndsWith("not of 300 us, that of RPCs that succeeded"));
}

TEST_F(StallsTest, AShortStallIsNone) {
  Serve(100'000, 300'000, 30'000'000);  // 1 % of the time
  ExpectNothing();
}

TEST_F(StallsTest, TheLimitIsFiveTimesThe99thPercentile) {
  // 0.99 L - 1 ms is left.
  Serve(1'000, 1'000'000, 6'000'000);
  ExpectNothing();
  Serve(1'000, 1'000'000, 6'200'000);
  ExpectOne(Finding::WARN, "stalls");
}

TEST_F(StallsTest, LessThanAMillisecondIsNone) {
  Serve(10'000, 1'000, 900'000);
  ExpectNothing();
  Serve(10'000, 1'000, 1'100'000);
  ExpectOne(Finding::WARN, "stalls");
}

TEST_F(StallsTest, TooFewRpcsProveNothing) {
  Serve(989, 300'000, 60'000'000);
  ExpectNothing();
}

TEST_F(StallsTest, ExponentialTimesAreNone) {
  std::mt19937_64 random(1);
  std::exponential_distribution<double> draw(1.0 / 10'000'000);
  stats::LogHistogram times;
  for (int i = 0; i < 100'000; ++i) {
    times.Record(static_cast<int64_t>(draw(random)));
  }
  results::EncodeHistogram(times, *Statistics().mutable_service_time_ns());
  ExpectNothing();
}

TEST_F(StallsTest, AnOpenLoopSendsMeanwhile) {
  Serve(100'000, 300'000, 600'000'000);
  Loop().set_open_loop_interval_ns(10'000'000);
  EXPECT_EQ(Find("stalls").message(), "");
}

TEST_F(StallsTest, RpcsOfHandlersHaveTheRateOfTheirRequests) {
  Serve(100'000, 300'000, 600'000'000);
  result_.mutable_traffic_config()->mutable_action_lists(0)->set_name("other");
  EXPECT_EQ(Find("stalls").message(), "");
}

TEST_F(StallsTest, OtherRpcsOfTheLoopDoNotMatter) {
  Serve(100'000, 300'000, 600'000'000);
  result_.mutable_traffic_config()->mutable_actions(0)->set_rpc_name("other");
  EXPECT_EQ(Find("stalls").message(), "");
}

// Time parts of RPCs; for `contradicting` of them, the network took no time.
void AddTimeParts(int64_t count, int64_t contradicting,
                  RpcStatistics& statistics) {
  *statistics.mutable_server_queue_ns() = Repeated(100'000, count);
  *statistics.mutable_server_handler_ns() = Repeated(800'000, count);
  stats::LogHistogram network_ns;
  network_ns.RecordN(100'000, count - contradicting);
  network_ns.RecordN(0, contradicting);
  results::EncodeHistogram(network_ns, *statistics.mutable_network_ns());
}

TEST_F(JudgeTest, TimePartsOfAllRpcsAreNoFinding) {
  result_.mutable_traffic_config()->set_measure_time_parts(true);
  AddTimeParts(3000, 0, Statistics());
  ExpectNothing();
}

TEST_F(JudgeTest, TimePartsThatNoServerReportedAreAWarning) {
  result_.mutable_traffic_config()->set_measure_time_parts(true);
  EXPECT_THAT(ExpectOne(Finding::WARN, "time_parts_missing"),
              HasSubstr("for 3000 of 3000 RPCs"));
}

TEST_F(JudgeTest, TimePartsOfServersOutsideOfTheTestAreNotExpected) {
  DistributedSystemDescription& test = *result_.mutable_traffic_config();
  test.mutable_rpc_descriptions(0)->mutable_external_call();
  ExpectNothing();
  test.set_measure_time_parts(true);
  ExpectNothing();
}

TEST_F(JudgeTest, OneRpcWithoutTimePartsIsAWarning) {
  result_.mutable_traffic_config()->set_measure_time_parts(true);
  AddTimeParts(2999, 0, Statistics());
  EXPECT_THAT(ExpectOne(Finding::WARN, "time_parts_missing"),
              HasSubstr("for 1 of 3000 RPCs"));
}

TEST_F(JudgeTest, TheDelayOfHedgesIsNotTakenForTheNetwork) {
  result_.mutable_traffic_config()->set_measure_time_parts(true);
  AddTimeParts(3000, 0, Statistics());
  PolicyStatistics& attempts = (*Log().mutable_policy_statistics())[0];
  attempts.set_request_count(3000);
  ExpectNothing();
  attempts.set_hedge_count(270);
  EXPECT_THAT(ExpectOne(Finding::NOTE, "time_parts_of_policy"),
              HasSubstr("for 3000 requests, 0 retries and 270 hedges were"));
  result_.mutable_traffic_config()->set_measure_time_parts(false);
  ExpectNothing();
}

TEST_F(JudgeTest, SomeContradictionsOfClocksAreANote) {
  result_.mutable_traffic_config()->set_measure_time_parts(true);
  AddTimeParts(3000, 30, Statistics());
  EXPECT_THAT(ExpectOne(Finding::NOTE, "time_parts_contradict"),
              HasSubstr("for 30 RPCs (1.00 %)"));
}

TEST_F(JudgeTest, ManyContradictionsOfClocksAreAWarning) {
  result_.mutable_traffic_config()->set_measure_time_parts(true);
  AddTimeParts(3000, 31, Statistics());
  ExpectOne(Finding::WARN, "time_parts_contradict");
}

// The judged RPCs take a millisecond each; all are stamped.
class WireTimesTest : public JudgeTest {
 protected:
  WireTimesTest() {
    result_.mutable_traffic_config()->mutable_measure_wire_time();
    Stamp(900'000);
  }

  void Stamp(int64_t wire_ns) {
    *Statistics().mutable_wire_time_ns() = Repeated(wire_ns, 3000);
    Count("wire_stamps", 3300);  // with the warm-up
  }

  void Count(const std::string& counter, int64_t value) {
    (*Log().mutable_driver_counters())[counter] = value;
  }
};

TEST_F(WireTimesTest, ThoseOfAllRpcsAreNoFinding) { ExpectNothing(); }

TEST_F(WireTimesTest, ATestWithoutThemHasNoFinding) {
  result_.mutable_traffic_config()->clear_measure_wire_time();
  Count("wire_stamps_missing", 3000);
  ExpectNothing();
}

TEST_F(WireTimesTest, FewMissingStampsAreNoFinding) {
  Count("wire_stamps_missing", 3);
  ExpectNothing();
  Count("wire_stamps_missing", 4);
  EXPECT_THAT(ExpectOne(Finding::WARN, "wire_stamps_missing"),
              HasSubstr("For 4 RPCs"));
}

TEST_F(WireTimesTest, WithoutAnyStampAllAreMissing) {
  Statistics().clear_wire_time_ns();
  Count("wire_stamps", 0);
  Count("wire_stamps_missing", 3300);
  EXPECT_THAT(ExpectOne(Finding::WARN, "wire_stamps_missing"),
              HasSubstr("For 3300 RPCs, 100 %"));
}

TEST_F(WireTimesTest, AClockThatWasSetIsAWarning) {
  Count("wire_clock_steps", 1);
  ExpectOne(Finding::WARN, "wire_clock_set");
}

TEST_F(WireTimesTest, SharedStampsAreANote) {
  Statistics().set_wire_shared_count(30);
  ExpectNothing();
  Statistics().set_wire_shared_count(31);
  EXPECT_THAT(ExpectOne(Finding::NOTE, "wire_stamps_shared"),
              HasSubstr("1.03 % of the stamped RPCs"));
}

TEST_F(WireTimesTest, SharedStampsAreAShareOfTheStamped) {
  *Statistics().mutable_wire_time_ns() = Repeated(900'000, 300);
  Statistics().set_wire_shared_count(6);
  EXPECT_THAT(ExpectOne(Finding::NOTE, "wire_stamps_shared"),
              HasSubstr("2.00 % of the stamped RPCs"));
}

// The attempts before took their time on the wire, too.
TEST_F(WireTimesTest, ThatOfTheLastAttemptSaysNothingOfTheClient) {
  Stamp(400'000);
  PolicyStatistics& attempts = (*Log().mutable_policy_statistics())[0];
  attempts.set_request_count(3000);
  ExpectOne(Finding::WARN, "beyond_the_wire");
  attempts.set_retry_count(2000);
  attempts.set_hedge_count(10);
  const std::string message = ExpectOne(Finding::NOTE, "beyond_the_wire");
  EXPECT_THAT(message, HasSubstr("2000 retries and 10 hedges"));
  EXPECT_THAT(Find("beyond_the_wire").advice(),
              Not(HasSubstr("CPUs of its own")));
}

TEST_F(WireTimesTest, ServiceTimesThatAreElsewhereAreNamed) {
  Stamp(810'000);
  ExpectNothing();
  Stamp(600'000);
  EXPECT_THAT(ExpectOne(Finding::NOTE, "beyond_the_wire"),
              HasSubstr("the median of the service time is 1.00 ms"));
  Stamp(400'000);
  ExpectOne(Finding::WARN, "beyond_the_wire");
}

TEST_F(WireTimesTest, TheSlowestMayBeElsewhere) {
  stats::LogHistogram service_ns;
  service_ns.RecordN(1'000'000, 2900);
  service_ns.RecordN(5'000'000, 100);
  results::EncodeHistogram(service_ns, *Statistics().mutable_service_time_ns());
  EXPECT_THAT(Find("beyond_the_wire").message(),
              HasSubstr("the 99th percentile of the service time is 5.00 ms"));
  Statistics().set_failed_count(1);
  EXPECT_THAT(Find("beyond_the_wire").message(),
              HasSubstr("of the service time of RPCs that succeeded is "));
}

// Nor do tables show a 99th percentile of so few.
TEST_F(WireTimesTest, OfFewOnlyTheMedianSaysWhereTheyAre) {
  Statistics().set_succeeded_count(99);
  stats::LogHistogram service_ns;
  service_ns.RecordN(1'000'000, 97);
  service_ns.RecordN(5'000'000, 2);
  results::EncodeHistogram(service_ns, *Statistics().mutable_service_time_ns());
  *Statistics().mutable_wire_time_ns() = Repeated(900'000, 99);
  EXPECT_EQ(Find("beyond_the_wire").message(), "");
}

}  // namespace

}  // namespace distbench::report
