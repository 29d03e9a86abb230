// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/measurements/rpc_series.h"

#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/quantile_interval.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int kRpc = 3;

RpcTimeSeries& SeriesOf(TestResult& result, const std::string& client) {
  RpcTimeSeries& series =
      (*(*result.mutable_service_logs()->mutable_instance_logs())[client]
            .mutable_rpc_time_series())[kRpc];
  series.set_interval_ns(kSecondNs);
  return series;
}

RpcInterval& AddInterval(RpcTimeSeries& series, int64_t index,
                         int64_t latency_ns) {
  RpcInterval& interval = *series.add_intervals();
  interval.set_index(index);
  interval.set_offered_count(3);
  interval.set_sent_count(2);
  interval.set_succeeded_count(1);
  stats::LogHistogram latency;
  latency.Record(latency_ns);
  results::EncodeHistogram(latency, *interval.mutable_service_time_ns());
  return interval;
}

TEST(RpcSeriesTest, ClientsAreAddedUp) {
  TestResult result;
  AddInterval(SeriesOf(result, "c/0"), 10, 100);
  AddInterval(SeriesOf(result, "c/1"), 10, 50);
  AddInterval(SeriesOf(result, "c/1"), 12, 70);
  const RpcSeries series = CollectSeries(result, kRpc);
  EXPECT_EQ(series.interval_ns, kSecondNs);
  ASSERT_EQ(series.intervals.size(), 2);
  const IntervalTotals& first = series.intervals.at(10);
  EXPECT_EQ(first.offered, 6);
  EXPECT_EQ(first.sent, 4);
  EXPECT_EQ(first.succeeded, 2);
  EXPECT_EQ(first.service_time_ns.min(), 50);
  EXPECT_EQ(first.service_time_ns.max(), 100);
  EXPECT_EQ(series.intervals.at(12).succeeded, 1);
  EXPECT_EQ(series.left_out_count, 0);
}

TEST(RpcSeriesTest, OtherRpcsAndOldResultsHaveNone) {
  TestResult result;
  AddInterval(SeriesOf(result, "c/0"), 10, 100);
  EXPECT_EQ(CollectSeries(result, kRpc + 1).intervals.size(), 0);
  EXPECT_EQ(CollectSeries(TestResult(), kRpc).interval_ns, 0);
}

TEST(RpcSeriesTest, NeighboursArePutTogetherToFit) {
  TestResult result;
  for (int i = 0; i < 100; ++i) {
    AddInterval(SeriesOf(result, "c/0"), 1000 + i, i + 1);
  }
  const RpcSeries series = CollectSeries(result, kRpc, /*max_intervals=*/10);
  EXPECT_EQ(series.interval_ns, 10 * kSecondNs);
  ASSERT_EQ(series.intervals.size(), 10);
  EXPECT_EQ(series.intervals.at(100).succeeded, 10);
  EXPECT_EQ(series.intervals.at(109).service_time_ns.max(), 100);
}

TEST(RpcSeriesTest, WhatDoesNotFitIsLeftOutAndCounted) {
  TestResult result;
  AddInterval(SeriesOf(result, "good"), 10, 100);
  AddInterval(SeriesOf(result, "negative"), -1, 100);
  AddInterval(SeriesOf(result, "huge"), std::numeric_limits<int64_t>::max(),
              100);
  AddInterval(SeriesOf(result, "damaged"), 10, 100)
      .mutable_service_time_ns()
      ->add_bucket_counts(1);
  SeriesOf(result, "no_width").set_interval_ns(0);
  const RpcSeries series = CollectSeries(result, kRpc);
  EXPECT_EQ(series.left_out_count, 4);
  EXPECT_EQ(series.intervals.size(), 1);
}

TEST(RpcSeriesTest, BlocksAreWithoutWarmUp) {
  TestResult result;
  for (int i = 0; i < stats::kMinBlocks + 2; ++i) {
    AddInterval(SeriesOf(result, "c/0"), i, 100).set_warmup_count(i < 2);
  }
  EXPECT_EQ(
      LatencyBlocks(CollectSeries(result, kRpc), LatencyKind::kService).size(),
      stats::kMinBlocks);
  EXPECT_EQ(
      LatencyBlocks(CollectSeries(result, kRpc), LatencyKind::kResponse).size(),
      0);
}

TEST(RpcSeriesTest, TheWidestClientDecides) {
  TestResult result;
  AddInterval(SeriesOf(result, "c/0"), 10, 100);
  AddInterval(SeriesOf(result, "c/0"), 11, 200);
  AddInterval(SeriesOf(result, "c/0"), 13, 300);
  AddInterval(SeriesOf(result, "c/1"), 3, 400);
  AddInterval(SeriesOf(result, "odd"), 5, 400);
  SeriesOf(result, "c/1").set_interval_ns(4 * kSecondNs);
  SeriesOf(result, "odd").set_interval_ns(3 * kSecondNs);
  const RpcSeries series = CollectSeries(result, kRpc);
  EXPECT_EQ(series.interval_ns, 4 * kSecondNs);
  EXPECT_EQ(series.left_out_count, 1);
  ASSERT_EQ(series.intervals.size(), 2);
  EXPECT_EQ(series.intervals.at(2).succeeded, 2);
  EXPECT_EQ(series.intervals.at(3).succeeded, 2);
  EXPECT_EQ(series.intervals.at(3).service_time_ns.max(), 400);
  const RpcSeries one = CollectSeries(result, kRpc, /*max_intervals=*/1);
  EXPECT_EQ(one.interval_ns, 8 * kSecondNs);
  EXPECT_EQ(one.intervals.at(1).succeeded, 4);
}

// Intervals 10 to 12, of 100 ns.
RpcSeries ThreeIntervals() {
  RpcSeries series;
  series.interval_ns = 100;
  series.intervals[10];
  series.intervals[12];
  return series;
}

results::RpcCounts CountsFrom(int64_t start_ns, int64_t end_ns) {
  results::RpcCounts counts;
  counts.succeeded_count = 1;
  counts.first_start_timestamp_ns = start_ns;
  counts.last_end_timestamp_ns = end_ns;
  return counts;
}

RunInfo RunFrom(int64_t start_ns, int64_t end_ns) {
  RunInfo run_info;
  run_info.set_start_timestamp_ns(start_ns);
  run_info.set_end_timestamp_ns(end_ns);
  return run_info;
}

TEST(TrafficSpanTest, IsThatOfTheRpcRatherThanOfTheRun) {
  const auto span = SpanOfTraffic(RunFrom(1010, 1290), CountsFrom(1030, 1260),
                                  ThreeIntervals());
  ASSERT_TRUE(span.has_value());
  EXPECT_EQ(span->start_ns, 1030);
  EXPECT_EQ(span->end_ns, 1260);
}

TEST(TrafficSpanTest, WarmUpBeginsWithTheRun) {
  results::RpcCounts counts = CountsFrom(1090, 1260);
  counts.warmup_count = 1;
  const auto span =
      SpanOfTraffic(RunFrom(1010, 1290), counts, ThreeIntervals());
  ASSERT_TRUE(span.has_value());
  EXPECT_EQ(span->start_ns, 1010);
  EXPECT_EQ(span->end_ns, 1260);
}

// As if RPCs failed before the first success and after the last one.
TEST(TrafficSpanTest, TimesInOtherIntervalsDoNotCount) {
  const results::RpcCounts counts = CountsFrom(1130, 1160);
  auto span = SpanOfTraffic(RunFrom(1010, 1290), counts, ThreeIntervals());
  ASSERT_TRUE(span.has_value());
  EXPECT_EQ(span->start_ns, 1010);
  EXPECT_EQ(span->end_ns, 1290);

  span = SpanOfTraffic(RunFrom(900, 1500), counts, ThreeIntervals());
  ASSERT_TRUE(span.has_value());
  EXPECT_EQ(span->start_ns, 1000);
  EXPECT_EQ(span->end_ns, 1300);
}

TEST(TrafficSpanTest, TheEndMayBeThatOfAnInterval) {
  const auto span =
      SpanOfTraffic(RunInfo(), CountsFrom(1000, 1300), ThreeIntervals());
  ASSERT_TRUE(span.has_value());
  EXPECT_EQ(span->start_ns, 1000);
  EXPECT_EQ(span->end_ns, 1300);
}

TEST(TrafficSpanTest, WithoutTimesAllIntervalsAreWhole) {
  const auto span =
      SpanOfTraffic(RunInfo(), results::RpcCounts(), ThreeIntervals());
  ASSERT_TRUE(span.has_value());
  EXPECT_EQ(span->start_ns, 1000);
  EXPECT_EQ(span->end_ns, 1300);
  EXPECT_FALSE(SpanOfTraffic(RunInfo(), results::RpcCounts(), {}).has_value());
}

TEST(TrafficSpanTest, TheLastIntervalMayEndBeyondAllTimes) {
  RpcSeries series;
  series.interval_ns = std::numeric_limits<int64_t>::max() / 3;
  series.intervals[3];
  const auto span = SpanOfTraffic(RunInfo(), results::RpcCounts(), series);
  ASSERT_TRUE(span.has_value());
  EXPECT_EQ(span->end_ns, std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace distbench::report
