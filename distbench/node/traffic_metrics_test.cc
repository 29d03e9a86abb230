// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/traffic_metrics.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/metrics/testing/metric_values.h"
#include "distbench/results/time_series.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::node {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

metrics::RpcTraffic Succeeded(int64_t count) {
  metrics::RpcTraffic traffic;
  traffic.counts.succeeded = count;
  return traffic;
}

// RPCs that succeeded, by test and RPC.
std::map<std::string, double> SucceededOf(const TrafficMetrics& metrics) {
  std::map<std::string, double> values;
  for (const auto& [labels, value] :
       metrics::MetricValues(metrics.Collect(), "distbench_rpc_ended_total")) {
    const size_t end = labels.find(" succeeded");
    if (end != std::string::npos) values[labels.substr(0, end)] = value;
  }
  return values;
}

double TotalOf(const TrafficMetrics& metrics) {
  return metrics::MetricValues(metrics.Collect(),
                               "distbench_rpcs_succeeded_total")
      .at("");
}

TEST(TrafficMetricsTest, ATestThatRunsAgainGoesOnWhereItWas) {
  TrafficMetrics metrics;
  metrics.AddRpc("t", "ping", Succeeded(3));
  metrics.AddRpc("u", "ping", Succeeded(1));
  metrics.AddRpc("t", "ping", Succeeded(4));
  EXPECT_THAT(SucceededOf(metrics),
              ElementsAre(Pair("t ping", 7), Pair("u ping", 1)));
  EXPECT_EQ(TotalOf(metrics), 8);
}

TEST(TrafficMetricsTest, RpcsBeyondTheLimitAreCountedTogether) {
  constexpr int kRpcs = 10'000;
  TrafficMetrics metrics;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kRpcs; ++i) {
      metrics.AddRpc("t", absl::StrCat("rpc_", i), Succeeded(1));
    }
  }
  auto succeeded = SucceededOf(metrics);
  EXPECT_THAT(succeeded, SizeIs(TrafficMetrics::kMostRpcs + 1));
  EXPECT_EQ(succeeded["t rpc_0"], 2);
  EXPECT_EQ(succeeded["t (others)"],
            2 * (kRpcs - static_cast<int>(TrafficMetrics::kMostRpcs)));
  EXPECT_EQ(TotalOf(metrics), 2 * kRpcs);
}

TEST(TrafficMetricsTest, ANewTestReplacesWhatWasCountedLongestAgo) {
  TrafficMetrics metrics;
  metrics.AddRpc("a", "kept", Succeeded(1));
  for (size_t i = 1; i < TrafficMetrics::kMostRpcs; ++i) {
    metrics.AddRpc("b", absl::StrCat("rpc_", i), Succeeded(1));
  }
  metrics.AddRpc("a", "kept", Succeeded(1));
  metrics.AddRpc("c", "new", Succeeded(5));
  auto succeeded = SucceededOf(metrics);
  EXPECT_THAT(succeeded, SizeIs(TrafficMetrics::kMostRpcs));
  EXPECT_EQ(succeeded["a kept"], 2);
  EXPECT_EQ(succeeded["c new"], 5);
  EXPECT_EQ(succeeded.count("b rpc_1"), 0);
  EXPECT_EQ(TotalOf(metrics), TrafficMetrics::kMostRpcs + 6);
}

class CountedTrafficTest : public testing::Test {
 protected:
  CountedTrafficTest() {
    test_.set_name("t");
    test_.add_rpc_descriptions()->set_name("ping");
    test_.add_rpc_replay_traces()->set_name("replay");
  }

  static stats::SeriesByRpc Series(int rpc, int64_t second, int64_t count) {
    stats::SeriesByRpc series;
    series[rpc].At(second).succeeded = count;
    series[rpc].ServiceTimes(second).RecordN(15'000, count);
    series[rpc].Close();
    return series;
  }

  static ResultChunk Results(int rpc, const stats::SeriesByRpc& series) {
    ResultChunk chunk;
    results::EncodeTimeSeries({&series.at(rpc)}, [&](RpcTimeSeries piece) {
      (*chunk.mutable_instance_log()->mutable_rpc_time_series())[rpc] =
          std::move(piece);
    });
    return chunk;
  }

  DistributedSystemDescription test_;
  TrafficMetrics metrics_;
};

TEST_F(CountedTrafficTest, CountsEachRpcOnce) {
  CountedTraffic counted(test_, &metrics_);
  counted.CountRecent(Series(0, 5, 10), 2);
  EXPECT_THAT(SucceededOf(metrics_), ElementsAre(Pair("t ping", 10)));
  EXPECT_THAT(
      metrics::MetricValues(metrics_.Collect(), "distbench_rpcs_in_flight"),
      ElementsAre(Pair("", 2)));
  // The last second is in the results only.
  counted.AddResults(Results(0, Series(0, 5, 10)));
  counted.AddResults(Results(0, Series(0, 6, 3)));
  counted.AddResults(Results(1, Series(1, 6, 4)));
  counted.CountRest();
  EXPECT_THAT(SucceededOf(metrics_),
              ElementsAre(Pair("t ping", 13), Pair("t replay", 4)));
  EXPECT_THAT(
      metrics::MetricValues(metrics_.Collect(), "distbench_rpcs_in_flight"),
      ElementsAre(Pair("", 0)));
  // What an engine tells late was in its results.
  counted.CountRecent(Series(0, 6, 3), 1);
  counted.CountRest();
  EXPECT_EQ(TotalOf(metrics_), 17);
}

TEST_F(CountedTrafficTest, WhatWasCountedStaysIfItsResultsAreLost) {
  CountedTraffic counted(test_, &metrics_);
  counted.CountRecent(Series(0, 5, 10), 0);
  counted.AddResults(Results(0, Series(0, 5, 4)));
  counted.CountRest();
  EXPECT_EQ(TotalOf(metrics_), 10);
}

TEST_F(CountedTrafficTest, CpuTimeNeverDecreases) {
  CountedTraffic counted(test_, &metrics_);
  RUsage used;
  for (const double seconds : {1.0, 2.5, 2.0}) {
    used.set_user_cpu_time_seconds(seconds);
    counted.CountCpu(used);
  }
  EXPECT_THAT(metrics::MetricValues(metrics_.Collect(),
                                    "distbench_tests_cpu_seconds_total"),
              ElementsAre(Pair("", 2.5)));
}

TEST_F(CountedTrafficTest, NobodyNeedsToWantTheMetrics) {
  CountedTraffic counted(test_, nullptr);
  counted.CountRecent(Series(0, 5, 10), 0);
  counted.AddResults(Results(0, Series(0, 5, 10)));
  counted.CountRest();
}

}  // namespace
}  // namespace distbench::node
