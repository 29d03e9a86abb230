// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/measurements/rpc_measurements.h"

#include <algorithm>
#include <vector>

#include "distbench/base/time_units.h"
#include "distbench/report/measurements/rpc_series.h"
#include "distbench/report/testing/report_testing.h"
#include "distbench/stats/outcomes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::DoubleEq;
using ::testing::Optional;

TEST(AttemptTotalsTest, WhatNobodyUsedIsWasted) {
  PolicyStatistics attempts;
  EXPECT_FALSE(WastedShare(attempts, 0).has_value());
  EXPECT_FALSE(Amplification(attempts).has_value());
  // 100 requests, of which 80 succeeded; 20 hedges succeeded too late.
  attempts.set_request_count(100);
  attempts.set_attempt_count(160);
  attempts.set_succeeded_attempt_count(100);
  attempts.set_failed_attempt_count(40);
  attempts.set_abandoned_attempt_count(20);
  EXPECT_THAT(Amplification(attempts), Optional(DoubleEq(1.6)));
  EXPECT_THAT(WastedShare(attempts, 80), Optional(DoubleEq(0.5)));
  // More requests than attempts that succeeded cannot be.
  EXPECT_THAT(WastedShare(attempts, 1000), Optional(DoubleEq(1 - 100 / 160.0)));
}

constexpr int64_t kMs = base::kNsPerMs;

TEST(GoodputTest, OnlyWhatWasInTimeCounts) {
  stats::LogHistogram response_ns;
  response_ns.RecordN(10 * kMs, 70);
  response_ns.RecordN(80 * kMs, 30);
  EXPECT_EQ(GoodputOf(100, response_ns, std::nullopt), 100);
  EXPECT_EQ(GoodputOf(100, response_ns, 50 * kMs), 70);
  EXPECT_EQ(GoodputOf(100, stats::LogHistogram(), 50 * kMs), 100);
}

TestResult Series(const std::string& intervals) {
  return ResultFromText(
      "traffic_config { rpc_descriptions { name: 'query' deadline_us: 50000 } }"
      "run_info { start_timestamp_ns: 100500000000"
      "           end_timestamp_ns: 110250000000 }"
      "service_logs { instance_logs { key: 'client/0' value {"
      "  rpc_time_series { key: 0 value { interval_ns: 1000000000 " +
      intervals + "} } } } }");
}

TEST(GoodputTest, TheMeasuredTimeIncludesThatWithoutSuccess) {
  const TestResult result = Series(
      "intervals { index: 100 sent_count: 9 succeeded_count: 9 }"
      "intervals { index: 110 sent_count: 9 failed_count: 9 }"
      "intervals { index: 115 failed_count: 9 }");
  results::RpcCounts counts;
  counts.first_start_timestamp_ns = 100'500'000'000;
  counts.last_end_timestamp_ns = 100'600'000'000;
  EXPECT_EQ(MeasuredNs(result, 0, counts), 9'750'000'000);
  EXPECT_EQ(MeasuredNs(result, 1, counts), 100'000'000);
}

// As the time of the rate does. Nodes start earlier than the traffic.
TEST(GoodputTest, TheMeasuredTimeBeginsWithTheFirstSend) {
  const TestResult result = Series(
      "intervals { index: 100 offered_count: 60 sent_count: 60 "
      "            succeeded_count: 60 }");
  results::RpcCounts counts;
  counts.first_start_timestamp_ns = 100'600'000'000;
  counts.last_end_timestamp_ns = 100'632'000'000;
  EXPECT_EQ(MeasuredNs(result, 0, counts), counts.duration_ns());
  EXPECT_EQ(OfferedNs(result, 0, counts), counts.duration_ns());
}

TEST(GoodputTest, TheMeasuredTimeLeavesTheWarmupOut) {
  const TestResult result = Series(
      "intervals { index: 100 sent_count: 9 warmup_count: 9 }"
      "intervals { index: 101 sent_count: 9 warmup_count: 3 }"
      "intervals { index: 110 sent_count: 9 }");
  results::RpcCounts counts;
  EXPECT_EQ(MeasuredNs(result, 0, counts), 8'250'000'000);
  counts.first_start_timestamp_ns = 101'250'000'000;
  EXPECT_EQ(MeasuredNs(result, 0, counts), 9'000'000'000);
  counts.first_start_timestamp_ns = 105'000'000'000;
  EXPECT_EQ(MeasuredNs(result, 0, counts), 8'250'000'000);
}

// Those that are measured count from their first, and so does their time:
// otherwise their goodput would be more per second than what was sent.
TEST(GoodputTest, TheMeasuredTimeBeginsBeforeASlowRequestOfTheWarmupEnds) {
  const TestResult result = Series(
      "intervals { index: 100 sent_count: 9 warmup_count: 8 }"
      "intervals { index: 101 sent_count: 9 }"
      "intervals { index: 105 sent_count: 9 warmup_count: 1 }"
      "intervals { index: 110 sent_count: 9 }");
  results::RpcCounts counts;
  counts.first_start_timestamp_ns = 101'250'000'000;
  EXPECT_EQ(MeasuredNs(result, 0, counts), 9'000'000'000);
  // Numbers that contradict each other.
  counts.first_start_timestamp_ns = 1;
  EXPECT_EQ(MeasuredNs(result, 0, counts), 10'250'000'000);
}

// 1000 per second for 3 s; the server carries half of them, and answers the
// last one 3 s later.
TEST(OfferedLoadTest, IsPerSecondInWhichRequestsWereDue) {
  const TestResult result = Series(
      "intervals { index: 100 offered_count: 500 sent_count: 500 }"
      "intervals { index: 101 offered_count: 1000 sent_count: 1000 }"
      "intervals { index: 102 offered_count: 1000 sent_count: 1000 }"
      "intervals { index: 103 offered_count: 500 sent_count: 500 }"
      "intervals { index: 106 succeeded_count: 250 }");
  results::RpcCounts counts;
  counts.first_start_timestamp_ns = 100'500'000'000;
  counts.last_end_timestamp_ns = 106'500'000'000;
  EXPECT_EQ(OfferedNs(result, 0, counts), 3'000'000'000);
  EXPECT_EQ(MeasuredNs(result, 0, counts), 3'000'000'000);
  OfferedLoad load;
  load.set_offered_count(3000);
  EXPECT_THAT(OfferedPerSecond(load, 3'000'000'000), Optional(DoubleEq(1000)));
  EXPECT_FALSE(OfferedPerSecond(load, 0).has_value());
  EXPECT_FALSE(OfferedPerSecond(OfferedLoad(), 3'000'000'000).has_value());
}

// As by a client that is too slow to send them in time.
TEST(OfferedLoadTest, LateSendsDoNotLowerIt) {
  const TestResult result = Series(
      "intervals { index: 100 offered_count: 500 sent_count: 100 }"
      "intervals { index: 101 offered_count: 1000 sent_count: 200 }"
      "intervals { index: 107 sent_count: 1200 }");
  results::RpcCounts counts;
  counts.first_start_timestamp_ns = 100'500'000'000;
  counts.last_end_timestamp_ns = 108'500'000'000;
  EXPECT_EQ(OfferedNs(result, 0, counts), 1'500'000'000);
  EXPECT_EQ(MeasuredNs(result, 0, counts), 7'500'000'000);
}

// 1000 per second for 5 s, of which one is warm-up; 200 per second are sent, so
// that what is measured waits until all of the warm-up has been sent.
TEST(OfferedLoadTest, AnOverloadedWarmupDoesNotRaiseIt) {
  TestResult result = Series(
      "intervals { index: 101 offered_count: 1000 sent_count: 200 "
      "            warmup_count: 200 }"
      "intervals { index: 102 offered_count: 1000 sent_count: 200 "
      "            warmup_count: 200 }"
      "intervals { index: 103 offered_count: 1000 sent_count: 200 "
      "            warmup_count: 200 }"
      "intervals { index: 104 offered_count: 1000 sent_count: 200 "
      "            warmup_count: 200 }"
      "intervals { index: 105 offered_count: 1000 sent_count: 200 "
      "            warmup_count: 100 }");
  (*(*result.mutable_service_logs()->mutable_instance_logs())["client/0"]
        .mutable_offered_loads())[0]
      .set_offered_count(4000);
  results::RpcCounts counts;
  EXPECT_EQ(OfferedNs(result, 0, counts), 4'000'000'000);
  counts.first_start_timestamp_ns = 105'500'000'000;
  counts.last_end_timestamp_ns = 106'500'000'000;
  EXPECT_EQ(OfferedNs(result, 0, counts), 4'000'000'000);
}

// They last from the first send to the last end, as those of the rate do.
TEST(OfferedLoadTest, OfASystemThatCarriesItIsTheRate) {
  const TestResult result = Series(
      "intervals { index: 100 offered_count: 9 sent_count: 9 warmup_count: 5 }"
      "intervals { index: 105 offered_count: 2 sent_count: 2 }");
  results::RpcCounts counts;
  counts.first_start_timestamp_ns = 100'750'000'000;
  counts.last_end_timestamp_ns = 105'125'000'000;
  EXPECT_EQ(OfferedNs(result, 0, counts), counts.duration_ns());
  // Without a series, nothing else is known.
  EXPECT_EQ(OfferedNs(result, 1, counts), counts.duration_ns());
}

TEST(LoadCurveTest, HasTheWholeIntervalsOfTraffic) {
  const TestResult result = Series(
      "intervals { index: 100 offered_count: 4 sent_count: 4 }"
      "intervals { index: 101 offered_count: 9 sent_count: 8"
      "            succeeded_count: 7 attempt_count: 12 warmup_count: 1 }"
      "intervals { index: 103 offered_count: 9 failed_count: 9 }"
      "intervals { index: 104 offered_count: 3 failed_count: 3 }"
      "intervals { index: 106 failed_count: 3 }");
  const LoadCurve curve = LoadCurveOf(result, 0);
  EXPECT_TRUE(curve.is_open_loop);
  ASSERT_EQ(curve.intervals.size(), 3);
  EXPECT_EQ(curve.intervals[0].begin_ns, 101'000'000'000);
  EXPECT_EQ(curve.intervals[0].goodput, 7);
  EXPECT_EQ(curve.intervals[0].attempts, 12);
  EXPECT_TRUE(curve.intervals[0].is_warmup);
  // Nothing was due in the second.
  EXPECT_EQ(curve.intervals[1].begin_ns, 102'000'000'000);
  EXPECT_EQ(curve.intervals[1].offered, 0);
  EXPECT_EQ(curve.intervals[1].median_ns, stats::Outcomes::kFailed);
  EXPECT_EQ(curve.intervals[2].median_ns, stats::Outcomes::kFailed);
  EXPECT_TRUE(LoadCurveOf(result, 1).intervals.empty());
}

}  // namespace
}  // namespace distbench::report
