#include "distbench/report/measurements/traffic_span.h"

#include <limits>

#include "gtest/gtest.h"

namespace distbench::report {
namespace {

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
