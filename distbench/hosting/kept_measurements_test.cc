// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/hosting/kept_measurements.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "distbench/results/merge.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::hosting {
namespace {

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kSecond = 1'000'000'000;

// Returns RPCs that ended in one second, each after 1 ms.
stats::SeriesByRpc Second(int rpc, int64_t second, int count, int warmup = 0) {
  stats::SeriesByRpc recent;
  stats::IntervalSeries& series = recent[rpc];
  stats::IntervalCounts& counts = series.At(second);
  counts.succeeded = count;
  counts.failed = 1;
  counts.warmup = warmup;
  counts.request_bytes = 10 * count;
  counts.response_bytes = 20 * count;
  series.ServiceTimes(second).RecordN(1'000'000, count);
  series.ResponseTimes(second).RecordN(2'000'000, count);
  return recent;
}

ServicePerformanceLog LogOf(const KeptMeasurements& kept) {
  ServiceLogs logs;
  kept.Emit("client/0", [&](ResultChunk chunk) {
    EXPECT_TRUE(results::MergeChunk(std::move(chunk), logs).ok());
  });
  EXPECT_LE(logs.instance_logs_size(), 1);
  return (*logs.mutable_instance_logs())["client/0"];
}

TEST(KeptMeasurementsTest, AreSeriesAndTotals) {
  KeptMeasurements kept(kMiB);
  EXPECT_EQ(kept.end_timestamp_ns(), 0);
  kept.Add(Second(3, 100, 50));
  kept.Add({});
  kept.Add(Second(3, 101, 60));
  kept.Add(Second(0, 99, 7));
  EXPECT_EQ(kept.end_timestamp_ns(), 102 * kSecond);
  const ServicePerformanceLog log = LogOf(kept);
  const RpcTimeSeries& series = log.rpc_time_series().at(3);
  EXPECT_EQ(series.interval_ns(), kSecond);
  ASSERT_EQ(series.intervals_size(), 2);
  EXPECT_EQ(series.intervals(1).index(), 101);
  EXPECT_EQ(series.intervals(1).succeeded_count(), 60);
  EXPECT_EQ(series.intervals(1).response_time_ns().max(), 2'000'000);
  const RpcStatistics& totals = log.pooled_statistics().at(3);
  EXPECT_EQ(totals.succeeded_count(), 110);
  EXPECT_EQ(totals.failed_count(), 2);
  EXPECT_EQ(totals.request_bytes(), 1100);
  EXPECT_EQ(totals.response_bytes(), 2200);
  EXPECT_EQ(totals.first_start_timestamp_ns(), 100 * kSecond);
  EXPECT_EQ(totals.last_end_timestamp_ns(), 102 * kSecond);
  EXPECT_EQ(totals.service_time_ns().sum(), 110e6);
  EXPECT_EQ(totals.response_time_ns().sum(), 220e6);
  EXPECT_EQ(log.pooled_statistics().at(0).succeeded_count(), 7);
}

TEST(KeptMeasurementsTest, SecondsOfTheWarmupAreInNoTotal) {
  KeptMeasurements kept(kMiB);
  kept.Add(Second(0, 100, 50, /*warmup=*/49));
  kept.Add(Second(0, 101, 60));
  const ServicePerformanceLog log = LogOf(kept);
  EXPECT_EQ(log.pooled_statistics().at(0).succeeded_count(), 60);
  EXPECT_EQ(log.pooled_statistics().at(0).warmup_count(), 49);
  EXPECT_EQ(log.rpc_time_series().at(0).intervals(0).warmup_count(), 49);
}

TEST(KeptMeasurementsTest, StayWithinTheirMemory) {
  KeptMeasurements kept(10'000);
  for (int64_t second = 0; second < 10'000; ++second) {
    kept.Add(Second(0, second, 5));
  }
  const ServicePerformanceLog log = LogOf(kept);
  const RpcTimeSeries& series = log.rpc_time_series().at(0);
  EXPECT_EQ(series.interval_ns(), 512 * kSecond);
  EXPECT_EQ(log.pooled_statistics().at(0).succeeded_count(), 50'000);
  int64_t succeeded = 0;
  for (const RpcInterval& interval : series.intervals()) {
    succeeded += interval.succeeded_count();
  }
  EXPECT_EQ(succeeded, 50'000);
}

}  // namespace
}  // namespace distbench::hosting
