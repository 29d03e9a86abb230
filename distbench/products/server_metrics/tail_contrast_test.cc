// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/server_metrics/tail_contrast.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "distbench/products/server_metrics/metrics_report.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/parts/finding_rule.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::server_metrics {
namespace {

using ::distbench::base::FromText;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMs = 1'000'000;

// In each second, 200 requests that take so long, and a reading.
struct Second {
  int64_t latency_ns;
  double value;
};

TestResult ResultOf(const std::vector<Second>& seconds) {
  auto result = FromText<TestResult>(R"pb(
    traffic_config {
      services { name: "client" }
      services { name: "server" }
      rpc_descriptions { name: "ask" client: "client" server: "server" }
      server_metrics { name: "cpu" command: "cpu" interval_ns: 1000000000 }
    }
  )pb");
  ServicePerformanceLog& log =
      (*result.mutable_service_logs()->mutable_instance_logs())["client/0"];
  RpcStatistics& statistics =
      *(*(*log.mutable_peer_logs())["server/0"].mutable_rpc_logs())[0]
           .mutable_statistics();
  RpcTimeSeries& series = (*log.mutable_rpc_time_series())[0];
  series.set_interval_ns(kSecond);
  ServerMetricLog& metric = *(*result.mutable_resource_usage_logs()
                                   ->mutable_node_resources())["node0"]
                                 .add_server_metrics();
  metric.set_name("cpu");
  metric.set_interval_ns(kSecond);
  stats::LogHistogram all;
  for (size_t i = 0; i < seconds.size(); ++i) {
    stats::LogHistogram latency;
    for (int request = 0; request < 200; ++request) {
      latency.Record(seconds[i].latency_ns);
    }
    all.Merge(latency);
    RpcInterval& interval = *series.add_intervals();
    interval.set_index(static_cast<int64_t>(i) + 100);
    interval.set_sent_count(200);
    interval.set_succeeded_count(200);
    results::EncodeHistogram(latency, *interval.mutable_service_time_ns());
    metric.add_timestamps_ns((static_cast<int64_t>(i) + 100) * kSecond +
                             kSecond / 2);
    metric.add_values(seconds[i].value);
  }
  statistics.set_succeeded_count(static_cast<int64_t>(all.count()));
  statistics.set_first_start_timestamp_ns(100 * kSecond);
  statistics.set_last_end_timestamp_ns((100 + seconds.size()) * kSecond);
  results::EncodeHistogram(all, *statistics.mutable_service_time_ns());
  return result;
}

std::vector<TailContrast> Contrast(const TestResult& result) {
  return ContrastTails(result,
                       MeasureServerMetrics(result, report::AddUp(result)));
}

// Six bad seconds, at times of no pattern.
std::vector<Second> Bursts(double value_then) {
  std::vector<Second> seconds(60, Second{2 * kMs, 0.5});
  for (const int i : {3, 11, 12, 27, 40, 58}) {
    seconds[i] = {40 * kMs, value_then};
  }
  return seconds;
}

TEST(TailContrastTest, SaysWhatWasDifferentInTheWorstSeconds) {
  const TestResult result = ResultOf(Bursts(0.9));
  const auto contrasts = Contrast(result);
  ASSERT_THAT(contrasts, SizeIs(1));
  const TailContrast& contrast = contrasts[0];
  EXPECT_EQ(contrast.rpc, "ask");
  EXPECT_EQ(result.traffic_config().server_metrics(contrast.metric).name(),
            "cpu");
  EXPECT_EQ(contrast.seconds, 60);
  EXPECT_EQ(contrast.worst_seconds, 6);
  EXPECT_NEAR(contrast.worst_from_ns, 40 * kMs, kMs);
  EXPECT_NEAR(contrast.worst_mean, 0.9, 1e-9);
  EXPECT_NEAR(contrast.other_mean, 0.5, 1e-9);
  EXPECT_NEAR(contrast.p_value, 1.0 / 60, 1e-9);
}

TEST(TailContrastTest, IsAFinding) {
  const TestResult result = ResultOf(Bursts(0.9));
  report::FindingList list;
  JudgeReadings(result, list);
  const std::vector<Finding> findings = list.Take();
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].code(), "tail_with_server_metric");
  EXPECT_THAT(findings[0].message(),
              HasSubstr("in the 6 of 60 seconds with the highest p99 of ask "
                        "(40.0 ms and more), the metric cpu was 0.9 on "
                        "average, in the others 0.5; that they go together"));
  report::FindingList none;
  JudgeReadings(ResultOf(Bursts(0.5)), none);
  EXPECT_THAT(none.Take(), IsEmpty());
}

TEST(TailContrastTest, FindsNothingWhereNothingDiffers) {
  const auto contrasts = Contrast(ResultOf(Bursts(0.5)));
  ASSERT_THAT(contrasts, SizeIs(1));
  EXPECT_EQ(contrasts[0].p_value, 1);
}

TEST(TailContrastTest, SaysNothingOfFewSecondsOrOfSecondsThatAreAlike) {
  std::vector<Second> few = Bursts(0.9);
  few.resize(kFewestSeconds - 1);
  EXPECT_THAT(Contrast(ResultOf(few)), IsEmpty());
  EXPECT_THAT(Contrast(ResultOf(std::vector<Second>(60, Second{2 * kMs, 0.5}))),
              IsEmpty());
}

// Series that depend on their own past seem to go together if one takes their
// seconds for independent.
TEST(TailContrastTest, RarelyFindsWhatIsNotThere) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  constexpr int kRuns = 400;
  int found = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<double> values;
    std::vector<double> others;
    double a = normal(random);
    double b = normal(random);
    for (int i = 0; i < 60; ++i) {
      values.push_back(a);
      others.push_back(b);
      a = 0.8 * a + 0.6 * normal(random);
      b = 0.8 * b + 0.6 * normal(random);
    }
    std::vector<double> sorted = others;
    std::sort(sorted.rbegin(), sorted.rend());
    std::vector<bool> is_marked;
    for (const double other : others) is_marked.push_back(other >= sorted[5]);
    if (ShiftPValue(values, is_marked) <= 0.05) ++found;
  }
  EXPECT_LE(found, 0.08 * kRuns);
}

}  // namespace
}  // namespace distbench::server_metrics
