// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/metrics/rpc_traffic.h"

#include <cmath>
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::metrics {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

stats::LogHistogram HistogramOf(const std::vector<int64_t>& values) {
  stats::LogHistogram histogram;
  for (const int64_t value : values) histogram.Record(value);
  return histogram;
}

// The counts of the buckets that have any, by upper bound in nanoseconds; 0:
// no bound.
std::map<int64_t, uint64_t> CountsOf(const BucketedLatencies& latencies) {
  std::map<int64_t, uint64_t> counts;
  for (size_t i = 0; i < latencies.counts.size(); ++i) {
    if (latencies.counts[i] == 0) continue;
    counts[i < kLatencyBoundsNs.size() ? kLatencyBoundsNs[i] : 0] =
        latencies.counts[i];
  }
  return counts;
}

TEST(BucketedLatenciesTest, CountUpToAndIncludingTheBound) {
  BucketedLatencies latencies;
  latencies.Add(HistogramOf({0, 9'000, 10'000, 10'200, 20'000, 1'000'000'000,
                             10'000'000'000, 11'000'000'000}));
  EXPECT_THAT(CountsOf(latencies),
              ElementsAre(Pair(0, 1), Pair(10'000, 3), Pair(20'000, 2),
                          Pair(1'000'000'000, 1), Pair(10'000'000'000, 1)));
  EXPECT_EQ(latencies.count(), 8);
  EXPECT_DOUBLE_EQ(latencies.sum_ns, 22'000'049'200);
}

TEST(BucketedLatenciesTest, AreOffByLessThanTheHistogramsResolution) {
  for (const int64_t bound : kLatencyBoundsNs) {
    BucketedLatencies latencies;
    latencies.Add(HistogramOf({bound, bound + bound / 127}));
    EXPECT_EQ(CountsOf(latencies)[bound], 1);
  }
}

TEST(BucketedLatenciesTest, WhatExceedsTheHistogramIsInTheLastBucket) {
  BucketedLatencies latencies;
  latencies.Add(HistogramOf({stats::LogHistogram::kMaxValue + 1}));
  EXPECT_THAT(CountsOf(latencies), ElementsAre(Pair(0, 1)));
}

stats::IntervalSeries Series() {
  stats::IntervalSeries series;
  stats::IntervalCounts& counts = series.At(5);
  counts.succeeded = 3;
  counts.failed = 1;
  counts.offered = 4;
  series.ServiceTimes(5).Record(15'000);
  series.Close();
  return series;
}

TEST(RpcTrafficTest, AddsUpAndSubtractsDownToZero) {
  RpcTraffic once;
  once.Add(Series());
  RpcTraffic twice = once;
  twice.Add(once);
  EXPECT_EQ(twice.counts.succeeded, 6);
  EXPECT_EQ(twice.service_time.count(), 2);

  RpcTraffic rest = twice;
  rest.Subtract(once);
  EXPECT_EQ(rest.counts.succeeded, 3);
  EXPECT_EQ(rest.counts.offered, 4);
  EXPECT_EQ(rest.service_time.counts, once.service_time.counts);
  EXPECT_DOUBLE_EQ(rest.service_time.sum_ns, 15'000);

  rest.Subtract(twice);
  EXPECT_EQ(rest.counts.succeeded, 0);
  EXPECT_EQ(rest.service_time.count(), 0);
  EXPECT_EQ(rest.service_time.sum_ns, 0);
}

std::map<std::string, prometheus::MetricFamily> FamiliesByName(
    const std::vector<LabelledTraffic>& rpcs) {
  std::map<std::string, prometheus::MetricFamily> families;
  for (auto& family : RpcFamilies(rpcs)) families[family.name] = family;
  return families;
}

TEST(RpcFamiliesTest, HistogramsAreCumulativeAndInSeconds) {
  RpcTraffic traffic;
  traffic.Add(Series());
  traffic.service_time.Add(HistogramOf({30'000'000'000}));
  const auto families = FamiliesByName({{{{"rpc", "ping"}}, traffic}});
  const auto& metrics =
      families.at("distbench_rpc_service_time_seconds").metric;
  ASSERT_THAT(metrics, SizeIs(1));
  EXPECT_EQ(metrics[0].label[0].value, "ping");
  const auto& histogram = metrics[0].histogram;
  ASSERT_THAT(histogram.bucket, SizeIs(20));
  EXPECT_EQ(histogram.bucket[0].upper_bound, 1e-5);
  EXPECT_EQ(histogram.bucket[0].cumulative_count, 0);
  EXPECT_EQ(histogram.bucket[1].cumulative_count, 1);
  EXPECT_EQ(histogram.bucket[18].upper_bound, 10);
  EXPECT_EQ(histogram.bucket[18].cumulative_count, 1);
  EXPECT_TRUE(std::isinf(histogram.bucket[19].upper_bound));
  EXPECT_EQ(histogram.bucket[19].cumulative_count, 2);
  EXPECT_EQ(histogram.sample_count, 2);
  EXPECT_DOUBLE_EQ(histogram.sample_sum, 30.000015);
}

TEST(RpcFamiliesTest, ClosedLoopsHaveNoResponseTimes) {
  RpcTraffic traffic;
  traffic.Add(Series());
  const auto families = FamiliesByName({{{{"rpc", "ping"}}, traffic}});
  EXPECT_THAT(families.at("distbench_rpc_response_time_seconds").metric,
              SizeIs(0));
  const auto& ended = families.at("distbench_rpc_ended_total").metric;
  ASSERT_THAT(ended, SizeIs(2));
  EXPECT_EQ(ended[0].label[1].value, "succeeded");
  EXPECT_EQ(ended[0].counter.value, 3);
  EXPECT_EQ(ended[1].label[1].value, "failed");
  EXPECT_EQ(ended[1].counter.value, 1);
}

}  // namespace
}  // namespace distbench::metrics
