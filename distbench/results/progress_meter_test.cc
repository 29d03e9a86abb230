// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/progress_meter.h"

#include <cstdint>
#include <limits>
#include <optional>

#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gtest/gtest.h"

namespace distbench::results {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

TrafficProgress Report(int64_t succeeded, int64_t time_ns) {
  TrafficProgress report;
  report.set_succeeded_count(succeeded);
  report.set_failed_count(succeeded / 10);
  report.set_traffic_time_ns(time_ns);
  return report;
}

Histogram Times(int64_t ns) {
  stats::LogHistogram histogram;
  histogram.Record(ns);
  Histogram encoded;
  EncodeHistogram(histogram, encoded);
  return encoded;
}

TEST(ProgressMeterTest, RatesAreThoseOfTheInterval) {
  ProgressMeter meter;
  EXPECT_EQ(meter.time_ns(), 0);
  EXPECT_EQ(meter.PerSecond(&TrafficProgress::succeeded_count), 0);
  meter.Add(Report(100, kSecondNs));
  EXPECT_EQ(meter.PerSecond(&TrafficProgress::succeeded_count), 100);
  meter.BeginInterval();
  EXPECT_EQ(meter.time_ns(), 0);
  meter.Add(Report(300, 2 * kSecondNs));
  meter.Add(Report(500, 3 * kSecondNs));
  EXPECT_EQ(meter.time_ns(), 2 * kSecondNs);
  EXPECT_EQ(meter.PerSecond(&TrafficProgress::succeeded_count), 200);
  EXPECT_EQ(meter.PerSecond(&TrafficProgress::failed_count), 20);
}

TEST(ProgressMeterTest, DamagedReportsDoNotOverflow) {
  ProgressMeter meter;
  meter.Add(Report(0, std::numeric_limits<int64_t>::max()));
  meter.BeginInterval();
  meter.Add(Report(0, std::numeric_limits<int64_t>::min()));
  EXPECT_EQ(meter.time_ns(), 0);
  EXPECT_EQ(meter.PerSecond(&TrafficProgress::succeeded_count), 0);
}

TEST(ProgressMeterTest, LatenciesAreThoseOfTheInterval) {
  ProgressMeter meter;
  TrafficProgress report;
  EXPECT_EQ(meter.latencies().Percentile(0.5), std::nullopt);
  EXPECT_EQ(meter.latencies().PercentileText(50), "");
  *report.mutable_recent_service_time_ns() = Times(100);
  meter.Add(report);
  EXPECT_FALSE(meter.has_response_times());
  EXPECT_EQ(meter.latencies().Percentile(0.5), 100);
  EXPECT_EQ(meter.latencies().PercentileText(99), "p99 100 ns");
  *report.mutable_recent_response_time_ns() = Times(200);
  meter.Add(report);
  EXPECT_TRUE(meter.has_response_times());
  EXPECT_EQ(meter.latencies().Percentile(0.5), 200);
  meter.BeginInterval();
  EXPECT_EQ(meter.latencies().Percentile(0.5), std::nullopt);
}

TEST(ProgressMeterTest, WhatFailedTookLongest) {
  stats::LogHistogram succeeded;
  for (int ns = 1; ns <= 90; ++ns) succeeded.Record(ns);
  const LatenciesWithFailures latencies{.succeeded_ns = succeeded,
                                        .failed_share = 0.1};
  // The 45th of a hundred is the 45th of those that succeeded.
  EXPECT_NEAR(*latencies.Percentile(0.45), 45, 1);
  EXPECT_EQ(latencies.Percentile(0.99),
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(latencies.PercentileText(99), "p99 failed");
  const stats::LogHistogram nothing;
  const LatenciesWithFailures all_failed{.succeeded_ns = nothing,
                                         .failed_share = 1};
  EXPECT_EQ(all_failed.PercentileText(50), "p50 failed");
}

TEST(ProgressMeterTest, FailuresAreThoseOfTheInterval) {
  ProgressMeter meter;
  meter.Add(Report(100, kSecondNs));  // and 10 failures
  EXPECT_NEAR(meter.latencies().failed_share, 1.0 / 11, 1e-9);
  meter.BeginInterval();
  TrafficProgress report = Report(200, 2 * kSecondNs);
  report.set_failed_count(10);
  meter.Add(report);
  EXPECT_EQ(meter.latencies().failed_share, 0);
}

void AddRpc(const char* name, int64_t succeeded, int64_t failed, int64_t ns,
            TrafficProgress& report) {
  RecentRpc& rpc = *report.add_recent_rpcs();
  rpc.set_rpc_name(name);
  rpc.set_succeeded_count(succeeded);
  rpc.set_failed_count(failed);
  *rpc.mutable_service_time_ns() = Times(ns);
}

TEST(ProgressMeterTest, RpcsDivideTheRateOfAll) {
  ProgressMeter meter;
  // What has ended of each RPC arrives later than the counts of all.
  TrafficProgress report = Report(1000, 2 * kSecondNs);
  AddRpc("fast", 300, 0, 100, report);
  AddRpc("slow", 100, 7, 200, report);
  meter.Add(report);
  const auto rpcs = meter.rpcs();
  ASSERT_EQ(rpcs.size(), 2);
  EXPECT_EQ(rpcs.at("fast").succeeded_per_second, 500 * 0.75);
  EXPECT_EQ(rpcs.at("slow").succeeded_per_second, 500 * 0.25);
  EXPECT_EQ(rpcs.at("fast").failed_per_second, 0);
  EXPECT_EQ(rpcs.at("slow").failed_per_second, 50) << "all failures are its";
  EXPECT_EQ(rpcs.at("slow").latencies.Percentile(0.5), 200);
  EXPECT_EQ(rpcs.at("slow").latencies.PercentileText(99), "p99 failed");
  meter.BeginInterval();
  EXPECT_TRUE(meter.rpcs().empty());
}

}  // namespace
}  // namespace distbench::results
