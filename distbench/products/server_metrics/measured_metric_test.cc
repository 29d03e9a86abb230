// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/server_metrics/measured_metric.h"

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "absl/random/random.h"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/products/server_metrics/metrics_report.h"
#include "distbench/report/measurements/run_metrics.h"
#include "distbench/report/objectives/objectives.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::server_metrics {
namespace {

using ::distbench::base::FromText;
using ::distbench::base::Message;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kSecond = 1'000'000'000;

// RPCs were measured from second 10 to second 50.
TestResult WatchedRun() {
  return FromText<TestResult>(R"pb(
    traffic_config {
      name: "watched"
      services { name: "client" }
      services { name: "server" }
      rpc_descriptions { name: "ask" client: "client" server: "server" }
      server_metrics {
        name: "cpu"
        command: "cpu"
        unit: "percent"
        interval_ns: 1000000000
      }
    }
    service_logs {
      instance_logs {
        key: "client/0"
        value {
          peer_logs {
            key: "server/0"
            value {
              rpc_logs {
                key: 0
                value {
                  statistics {
                    succeeded_count: 1
                    first_start_timestamp_ns: 10000000000
                    last_end_timestamp_ns: 50000000000
                    service_time_ns {
                      sub_bucket_bits: 7
                      bucket_index_deltas: 5
                      bucket_counts: 1
                      min: 5
                      max: 5
                      sum: 5
                      sum_of_squares: 25
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
  )pb");
}

ServerMetric& EntryOf(TestResult& result) {
  return *result.mutable_traffic_config()->mutable_server_metrics(0);
}

// Adds a reading per second, the first one in second 0.5.
void AddReadings(const std::vector<double>& values, TestResult& result) {
  ServerMetricLog& log = *(*result.mutable_resource_usage_logs()
                                ->mutable_node_resources())["node1"]
                              .add_server_metrics();
  log.set_name("cpu");
  log.set_interval_ns(kSecond);
  for (size_t i = 0; i < values.size(); ++i) {
    log.add_timestamps_ns(i * kSecond + kSecond / 2);
    log.add_values(values[i]);
  }
}

ServerMetricLog& LogOf(TestResult& result) {
  return *(*result.mutable_resource_usage_logs()
                ->mutable_node_resources())["node1"]
              .mutable_server_metrics(0);
}

void Fail(int count, const std::string& message, TestResult& result) {
  LogOf(result).set_failed_count(count);
  FailedReading& failure = *LogOf(result).add_failures();
  failure.set_timestamp_ns(20 * kSecond);
  failure.set_message(message);
}

// 60 values of which those in the measured time are 0.5 and 0.7 in turns.
std::vector<double> InTurns() {
  std::vector<double> values(60, 100.0);
  for (int i = 10; i < 50; ++i) values[i] = i % 2 == 0 ? 0.5 : 0.7;
  return values;
}

MeasuredMetric MeasureOne(const TestResult& result) {
  std::vector<MeasuredMetric> all =
      MeasureServerMetrics(result, report::AddUp(result));
  EXPECT_THAT(all, SizeIs(1));
  return all[0];
}

TEST(MeasuredMetricTest, IsOfTheMeasuredTime) {
  TestResult result = WatchedRun();
  AddReadings(InTurns(), result);
  const MeasuredMetric metric = MeasureOne(result);
  EXPECT_EQ(metric.node, "node1");
  EXPECT_THAT(metric.judged, SizeIs(40));
  const auto mean = metric.Mean();
  ASSERT_TRUE(mean.ok()) << mean.status();
  EXPECT_NEAR(mean->value, 0.6, 1e-9);
  EXPECT_LT(*mean->lower, 0.6);
  EXPECT_GT(*mean->upper, 0.6);
  EXPECT_FALSE(mean->is_of_independent);
}

// What lies before the measured time is in no value that is judged.
TEST(MeasuredMetricTest, LeavesOutWhatLooksBackTooFar) {
  TestResult result = WatchedRun();
  AddReadings(InTurns(), result);
  EntryOf(result).set_look_back_ns(30 * kSecond);
  EXPECT_THAT(MeasureOne(result).judged, SizeIs(10));
  // They have most of their time in common: one block.
  EXPECT_FALSE(MeasureOne(result).Mean()->lower.has_value());

  EntryOf(result).set_look_back_ns(50 * kSecond);
  EXPECT_EQ(Message(MeasureOne(result).Mean().status()),
            "no reading of the metric \"cpu\" lies in the measured time with "
            "the 50.0 s that it looks back");
}

TEST(MeasuredMetricTest, HasNoBoundsOfTooFewOrTooManyFailed) {
  TestResult few = WatchedRun();
  AddReadings(std::vector<double>(14, 0.5), few);
  EXPECT_THAT(MeasureOne(few).judged, SizeIs(4));
  EXPECT_TRUE(MeasureOne(few).Mean()->upper.has_value());
  TestResult fewer = WatchedRun();
  AddReadings(std::vector<double>(13, 0.5), fewer);
  EXPECT_FALSE(MeasureOne(fewer).Mean()->upper.has_value());
  EXPECT_TRUE(MeasureOne(fewer).Mean()->is_of_independent);

  TestResult failed = WatchedRun();
  AddReadings(InTurns(), failed);
  Fail(6, "gone", failed);
  EXPECT_TRUE(MeasureOne(failed).Mean()->lower.has_value());
  Fail(7, "gone", failed);
  EXPECT_FALSE(MeasureOne(failed).Mean()->lower.has_value());
  EXPECT_NEAR(MeasureOne(failed).Mean()->value, 0.6, 1e-9);
}

// Damaged results must not crash a report.
TEST(MeasuredMetricTest, ListsThatDoNotFitCountAsNotRead) {
  TestResult result = WatchedRun();
  AddReadings(InTurns(), result);
  LogOf(result).add_values(1);
  EXPECT_EQ(MeasureOne(result).log, nullptr);
  EXPECT_EQ(MeasureOne(result).reading_count(), 0);
  EXPECT_EQ(Message(MeasureOne(result).Mean().status()),
            "no node has read the metric \"cpu\"");
  LogOf(result).mutable_values()->RemoveLast();
  LogOf(result).set_values(3, NAN);
  EXPECT_EQ(MeasureOne(result).log, nullptr);
  LogOf(result).set_values(3, 1);
  LogOf(result).set_failed_count(-1);
  EXPECT_EQ(MeasureOne(result).log, nullptr);
}

// The interval holds the truth about as often as it says, though neighbouring
// values depend on each other as those of a queue do.
TEST(MeasuredMetricTest, IntervalsAllowForDependence) {
  absl::BitGen random(std::seed_seq{1, 2, 3});
  constexpr int kRuns = 400;
  int holding = 0;
  for (int run = 0; run < kRuns; ++run) {
    TestResult result = WatchedRun();
    std::vector<double> values;
    double state = absl::Gaussian<double>(random);
    for (int i = 0; i < 60; ++i) {
      values.push_back(10 + state);
      state = 0.6 * state + 0.8 * absl::Gaussian<double>(random);
    }
    AddReadings(values, result);
    const auto mean = MeasureOne(result).Mean();
    if (*mean->lower <= 10 && *mean->upper >= 10) ++holding;
  }
  EXPECT_GE(holding, 0.90 * kRuns);
  EXPECT_LE(holding, 0.99 * kRuns);
}

// ---- Objectives -------------------------------------------------------------

report::Check Judge(const std::string& objective, TestResult result) {
  result.mutable_traffic_config()->add_objectives(objective);
  return report::CheckObjectives(result)[0];
}

TEST(ServerMetricObjectiveTest, IsJudgedByTheBoundsOfTheMean) {
  TestResult result = WatchedRun();
  AddReadings(InTurns(), result);
  using report::CheckVerdict;
  EXPECT_EQ(Judge("metric:cpu<=70%", result).verdict, CheckVerdict::kPass);
  EXPECT_EQ(Judge("metric:cpu>=50%", result).verdict, CheckVerdict::kPass);
  EXPECT_EQ(Judge("metric:cpu<=50%", result).verdict, CheckVerdict::kFail);
  EXPECT_EQ(Judge("metric:cpu<=60%", result).verdict, CheckVerdict::kUndecided);
  EXPECT_THAT(Judge("metric:cpu<=70%", result).evidence,
              HasSubstr("metric:cpu 60 % in 40 readings (95 % interval: "));
}

TEST(ServerMetricObjectiveTest, WhatWasNotMeasuredIsNotMet) {
  using report::CheckVerdict;
  TestResult result = WatchedRun();
  EXPECT_EQ(Judge("metric:cpu<=70%", result).verdict, CheckVerdict::kFail);
  EXPECT_THAT(Judge("metric:cpu<=70%", result).evidence,
              HasSubstr("cannot be judged: no node has read the metric"));
  AddReadings({}, result);
  Fail(5, "Connection refused", result);
  EXPECT_EQ(Judge("metric:cpu<=70%", result).verdict, CheckVerdict::kFail);
  EXPECT_THAT(Judge("metric:cpu<=70%", result).evidence,
              HasSubstr("no reading of the metric \"cpu\" gave a value: "
                        "Connection refused"));

  TestResult half = WatchedRun();
  AddReadings(std::vector<double>(30, 0.5), half);
  Fail(30, "Connection refused", half);
  EXPECT_EQ(Judge("metric:cpu<=70%", half).verdict, CheckVerdict::kUndecided);
  EXPECT_THAT(Judge("metric:cpu<=70%", half).evidence,
              HasSubstr("metric:cpu 50 % in 20 readings, 30 failed (95 % "
                        "interval of independent values: ? to ?); the "
                        "readings are too few for a bound"));
  // Also one that no check of a config has seen.
  EXPECT_THAT(Judge("metric:cpu<=70ms", half).evidence,
              HasSubstr("limits a metric whose unit is \"percent\""));
  EXPECT_THAT(Judge("metric:heap<=70%", half).evidence,
              HasSubstr("the test has no metric \"heap\""));
}

// ---- Comparisons and histories ----------------------------------------------

TEST(MeasureMeansTest, AreTheMeansOfReports) {
  TestResult result = WatchedRun();
  AddReadings(InTurns(), result);
  const std::vector<report::RunMetric> means = MeasureMeans(result);
  ASSERT_THAT(means, SizeIs(1));
  EXPECT_EQ(stats::MetricName(means[0].metric), "metric:cpu");
  EXPECT_EQ(stats::UnitOf(means[0].metric), stats::MetricUnit::kShare);
  const report::Estimate mean = *MeasureOne(result).Mean();
  ASSERT_TRUE(means[0].estimate.ok()) << means[0].estimate.status();
  EXPECT_EQ(means[0].estimate->value, mean.value);
  EXPECT_EQ(means[0].estimate->lower, mean.lower);
  EXPECT_EQ(means[0].estimate->upper, mean.upper);
  EXPECT_EQ(means[0].remark, "");
  // The program asks all products.
  ASSERT_THAT(report::MeasureRunMetrics(result), SizeIs(1));
  EXPECT_EQ(report::MeasureRunMetrics(result)[0].estimate->value, mean.value);

  result.mutable_traffic_config()->clear_server_metrics();
  EXPECT_THAT(MeasureMeans(result), IsEmpty());
}

TEST(MeasureMeansTest, FewReadingsAreAValueAndTooManyFailedOnesNone) {
  TestResult few = WatchedRun();
  AddReadings(std::vector<double>(13, 0.5), few);
  EXPECT_EQ(MeasureMeans(few)[0].estimate->value, 0.5);

  TestResult failed = WatchedRun();
  AddReadings(InTurns(), failed);
  Fail(6, "gone", failed);
  EXPECT_TRUE(MeasureMeans(failed)[0].estimate.ok());
  EXPECT_EQ(MeasureMeans(failed)[0].remark,
            "6 of 66 readings of the metric cpu failed");
  Fail(7, "gone", failed);
  EXPECT_EQ(Message(MeasureMeans(failed)[0].estimate.status()),
            "7 of 67 readings of the metric cpu failed, too many for a mean");

  EXPECT_EQ(Message(MeasureMeans(WatchedRun())[0].estimate.status()),
            "no node has read the metric \"cpu\"");
}

// ---- Reports ----------------------------------------------------------------

std::vector<Finding> FindingsOf(const TestResult& result) {
  report::FindingList findings;
  JudgeReadings(result, findings);
  return findings.Take();
}

TEST(ServerMetricFindingTest, NamesWhatFailed) {
  TestResult result = WatchedRun();
  result.mutable_run_info()->set_start_timestamp_ns(5 * kSecond);
  AddReadings(InTurns(), result);
  EXPECT_THAT(FindingsOf(result), IsEmpty());
  Fail(3, "Connection refused", result);
  ASSERT_THAT(FindingsOf(result), SizeIs(1));
  const Finding finding = FindingsOf(result)[0];
  EXPECT_EQ(finding.severity(), Finding::WARN);
  EXPECT_EQ(finding.code(), "server_metric_failed");
  EXPECT_EQ(finding.message(),
            "3 of 63 readings of the metric cpu failed, the first 15.0 s after "
            "the start: Connection refused");
  LogOf(result).set_failed_count(30);
  EXPECT_THAT(FindingsOf(result)[0].message(),
              HasSubstr("so many that its mean has no bounds"));
}

TEST(ServerMetricFindingTest, SaysWhatWasNotRead) {
  TestResult result = WatchedRun();
  ASSERT_THAT(FindingsOf(result), SizeIs(1));
  EXPECT_EQ(FindingsOf(result)[0].code(), "server_metric_unread");
  EXPECT_EQ(FindingsOf(result)[0].severity(), Finding::NOTE);
  result.mutable_simulation();
  EXPECT_THAT(FindingsOf(result)[0].message(),
              HasSubstr("simulated hosts have none"));
  result.mutable_traffic_config()->clear_server_metrics();
  EXPECT_THAT(FindingsOf(result), IsEmpty());
}

TEST(ServerMetricFindingTest, SaysWhatMayBeOld) {
  TestResult result = WatchedRun();
  AddReadings(std::vector<double>(60, 0.5), result);
  EXPECT_THAT(FindingsOf(result), IsEmpty());
  EntryOf(result).mutable_prometheus()->set_query("cpu");
  ASSERT_THAT(FindingsOf(result), SizeIs(1));
  EXPECT_EQ(FindingsOf(result)[0].code(), "server_metric_unchanged");
  EntryOf(result).set_look_back_ns(3600 * kSecond);
  ASSERT_THAT(FindingsOf(result), SizeIs(1));
  EXPECT_EQ(FindingsOf(result)[0].code(), "server_metric_too_late");
}

TEST(ServerMetricLinesTest, HaveALineForEachMetric) {
  TestResult result = WatchedRun();
  EXPECT_THAT(MetricLines(result)[1], HasSubstr("cpu"));
  AddReadings(InTurns(), result);
  const std::vector<std::string> lines = MetricLines(result);
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_THAT(lines[1], HasSubstr("60 %"));
  EXPECT_THAT(lines[1], HasSubstr("node1"));
  result.mutable_traffic_config()->clear_server_metrics();
  EXPECT_THAT(MetricLines(result), IsEmpty());
}

}  // namespace
}  // namespace distbench::server_metrics
