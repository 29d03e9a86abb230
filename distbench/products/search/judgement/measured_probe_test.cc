// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/judgement/measured_probe.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::search {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// One RPC "query" with a latency in each second.
TestResult ResultOf(const std::vector<int64_t>& latencies_ns, int per_second,
                    int failed_count = 0) {
  TestResult result;
  result.mutable_traffic_config()->add_rpc_descriptions()->set_name("query");
  ServicePerformanceLog& log =
      (*result.mutable_service_logs()->mutable_instance_logs())["client/0"];
  RpcTimeSeries& series = (*log.mutable_rpc_time_series())[0];
  series.set_interval_ns(1'000'000'000);
  stats::LogHistogram all;
  for (size_t i = 0; i < latencies_ns.size(); ++i) {
    stats::LogHistogram latency;
    latency.RecordN(latencies_ns[i], per_second);
    all.Merge(latency);
    RpcInterval& interval = *series.add_intervals();
    interval.set_index(i);
    interval.set_succeeded_count(per_second);
    results::EncodeHistogram(latency, *interval.mutable_service_time_ns());
  }
  series.mutable_intervals(0)->set_failed_count(failed_count);
  RpcStatistics& statistics =
      *(*(*log.mutable_peer_logs())["server/0"].mutable_rpc_logs())[0]
           .mutable_statistics();
  statistics.set_succeeded_count(all.count());
  statistics.set_failed_count(failed_count);
  statistics.set_first_start_timestamp_ns(0);
  statistics.set_last_end_timestamp_ns(latencies_ns.size() * 1'000'000'000);
  results::EncodeHistogram(all, *statistics.mutable_service_time_ns());
  return result;
}

MeasuredProbe Measure(const std::vector<std::string>& texts,
                      const TestResult& result) {
  std::vector<config::Objective> objectives;
  for (const std::string& text : texts) {
    objectives.push_back(*config::ParseObjective(text));
  }
  const auto measured =
      MeasureProbe({.load = 100}, objectives, result, report::AddUp(result));
  EXPECT_TRUE(measured.ok()) << measured.status();
  return measured.value_or(MeasuredProbe());
}

std::vector<int64_t> Steady(int64_t latency_ns) {
  return std::vector<int64_t>(12, latency_ns);
}

TEST(MeasureProbeTest, TheWorstObjectiveDecides) {
  const MeasuredProbe measured = Measure({"p50<=4ms", "mean<=2ms", "rate>=50"},
                                         ResultOf(Steady(1'000'000), 100));
  EXPECT_NEAR(measured.probe.excess, std::log(0.5), 0.01);
  EXPECT_EQ(measured.outcome, kMetOutcome);
  ASSERT_THAT(measured.load_of_limit, SizeIs(3));
  EXPECT_NEAR(measured.load_of_limit[0], 0.25, 0.01);
  EXPECT_TRUE(ClearlyMet(measured.probe));
}

// The rate is closer to its limit than the p50, but the p50, which jumps
// between 0.5 and 3 ms, may be above its own.
TEST(MeasureProbeTest, AnObjectiveThatMayMissLeavesTheOthersUnproven) {
  std::vector<int64_t> jumps;
  for (int i = 0; i < 6; ++i) {
    jumps.insert(jumps.end(), {3'000'000, 500'000});
  }
  jumps.push_back(500'000);
  const TestResult result = ResultOf(jumps, 100);
  const MeasuredProbe both = Measure({"p50<=1ms", "rate>=90"}, result);
  EXPECT_NEAR(both.probe.excess, std::log(0.9), 0.01);
  EXPECT_FALSE(ClearlyMet(both.probe));
  EXPECT_GT(both.probe.excess + 1.96 * both.probe.excess_error, 1);
  const MeasuredProbe rate = Measure({"rate>=90"}, result);
  EXPECT_LT(rate.probe.excess_error, both.probe.excess_error / 3);
}

TEST(IsTooLowTest, OnlyRatesThatWereNotAskedForAreMissed) {
  const auto is_too_low = [](const std::vector<std::string>& texts,
                             const TestResult& result) {
    std::vector<config::Objective> objectives;
    for (const std::string& text : texts) {
      objectives.push_back(*config::ParseObjective(text));
    }
    return IsTooLow(Measure(texts, result), objectives, result,
                    report::AddUp(result));
  };
  // 100 RPCs of 1 ms per second, of a closed loop.
  TestResult result = ResultOf(Steady(1'000'000), 100);
  EXPECT_TRUE(is_too_low({"rate>=200"}, result));
  EXPECT_TRUE(is_too_low({"p95<=5ms", "query rate>=200"}, result));
  EXPECT_FALSE(is_too_low({"rate>=90"}, result));  // met
  EXPECT_FALSE(is_too_low({"p95<=500us", "rate>=200"}, result));
  EXPECT_FALSE(is_too_low({"rate<=50"}, result));
  // Of an open loop that asked for 150 per second.
  ServicePerformanceLog& log =
      result.mutable_service_logs()->mutable_instance_logs()->at("client/0");
  (*log.mutable_offered_loads())[0].set_offered_count(150 * 12);
  EXPECT_TRUE(is_too_low({"rate>=200"}, result));
  EXPECT_FALSE(is_too_low({"rate>=120"}, result));
  // All of it in the first four seconds, of which the server took twelve.
  RpcTimeSeries& series = log.mutable_rpc_time_series()->at(0);
  for (int i = 0; i < 4; ++i) {
    series.mutable_intervals(i)->set_offered_count(150 * 3);
  }
  EXPECT_FALSE(is_too_low({"rate>=200"}, result));
  EXPECT_TRUE(is_too_low({"rate>=500"}, result));
}

TEST(MeasureProbeTest, NoFailuresOfFewRpcsProveLittle) {
  const MeasuredProbe few =
      Measure({"failures<=0.1%"}, ResultOf(Steady(1'000), 10));
  EXPECT_EQ(few.outcome, kMetOutcome);
  EXPECT_NEAR(few.load_of_limit[0], 0, 1e-9);
  EXPECT_GT(few.probe.excess + 1.96 * few.probe.excess_error, 0);
  const MeasuredProbe many =
      Measure({"failures<=0.1%"}, ResultOf(Steady(1'000), 100'000));
  EXPECT_LT(many.probe.excess + 1.96 * many.probe.excess_error, 0);
}

TEST(MeasureProbeTest, APercentileAmongFailuresIsNotAlwaysACertainMiss) {
  // 1.2 % of 1 200: the true p99 may well be a latency.
  const MeasuredProbe near =
      Measure({"p99<=1ms"}, ResultOf(Steady(1'000), 100, /*failed_count=*/14));
  EXPECT_EQ(near.outcome, kMissedOutcome);
  EXPECT_TRUE(std::isinf(near.probe.excess));
  EXPECT_FALSE(ClearlyMissed(near.probe));
  const MeasuredProbe all =
      Measure({"p99<=1ms"}, ResultOf(Steady(1'000), 1, /*failed_count=*/9999));
  EXPECT_TRUE(ClearlyMissed(all.probe));
}

TEST(MeasureProbeTest, FailuresDoNotMeetLowerLimits) {
  const std::vector<std::string> objective = {"p99>=1us"};
  // 0.8 % of 1 200: the true p99 may well be a failure.
  const MeasuredProbe near =
      Measure(objective, ResultOf(Steady(1'000'000), 100, /*failed_count=*/9));
  EXPECT_EQ(near.outcome, kMetOutcome);
  EXPECT_FALSE(ClearlyMet(near.probe));
  const MeasuredProbe all =
      Measure(objective, ResultOf(Steady(1'000'000), 1, 9999));
  EXPECT_TRUE(ClearlyMissed(all.probe));
  EXPECT_TRUE(
      ClearlyMet(Measure(objective, ResultOf(Steady(1'000'000), 100)).probe));
}

// However far the rate is above its limit.
TEST(MeasureProbeTest, MoreFailuresThanAllowedAreAClearMiss) {
  const MeasuredProbe measured = Measure(
      {"rate>=1"}, ResultOf(Steady(1'000'000), 100, /*failed_count=*/14));
  EXPECT_TRUE(ClearlyMissed(measured.probe));
  EXPECT_THAT(measured.measured[0], HasSubstr("more than the 0.1 % allowed"));
}

TEST(MeasureProbeTest, APercentileWithoutAnUpperBoundProvesNothing) {
  const MeasuredProbe measured =
      Measure({"p99.9<=1s"}, ResultOf(Steady(1'000), 10));
  EXPECT_EQ(measured.outcome, kMetOutcome);
  EXPECT_TRUE(std::isinf(measured.probe.excess_error));
}

std::vector<int64_t> Growing() {
  std::vector<int64_t> latencies;
  for (int i = 1; i <= 12; ++i) latencies.push_back(i * 1'000'000);
  return latencies;
}

TEST(MeasureProbeTest, GrowingLatenciesProveNoMore) {
  const MeasuredProbe met = Measure({"p50<=8ms"}, ResultOf(Growing(), 1000));
  EXPECT_EQ(met.outcome, kMetOutcome);
  EXPECT_TRUE(std::isinf(met.probe.excess_error));
  EXPECT_FALSE(ClearlyMet(met.probe));
  ASSERT_THAT(met.measured, SizeIs(2));
  EXPECT_THAT(met.measured[1], HasSubstr("still growing"));
}

TEST(MeasureProbeTest, GrowingLatenciesThatMissMissByFar) {
  const MeasuredProbe missed =
      Measure({"p50<=500us"}, ResultOf(Growing(), 1000));
  EXPECT_TRUE(ClearlyMissed(missed.probe));
  EXPECT_TRUE(std::isinf(missed.probe.excess));
  // What was measured is reported nevertheless.
  EXPECT_NEAR(missed.load_of_limit[0], 14, 0.5);
  // A miss that may be chance is not clear.
  const MeasuredProbe near = Measure({"p50<=6ms"}, ResultOf(Growing(), 1000));
  EXPECT_EQ(near.outcome, kMissedOutcome);
  EXPECT_FALSE(ClearlyMissed(near.probe));
}

// A load that grows during the test makes latencies grow, however long it is.
TEST(MeasureProbeTest, LatenciesThatGrowByPlanAreMeasuredAsTheyAre) {
  TestResult result = ResultOf(Growing(), 1000);
  result.mutable_traffic_config()
      ->add_actions()
      ->mutable_iterations()
      ->mutable_arrivals()
      ->set_process("recorded");
  const MeasuredProbe met = Measure({"p50<=8ms"}, result);
  EXPECT_EQ(met.outcome, kMetOutcome);
  EXPECT_THAT(met.measured, SizeIs(1));
  const MeasuredProbe missed = Measure({"p50<=500us"}, result);
  EXPECT_EQ(missed.outcome, kMissedOutcome);
  EXPECT_NEAR(missed.probe.excess, std::log(missed.load_of_limit[0]), 1e-9);
}

TestResult InvalidBy(const std::vector<std::string>& codes,
                     TestResult result = ResultOf(Steady(1'000'000), 100)) {
  for (const std::string& code : codes) {
    Finding& finding = *result.mutable_run_info()->add_findings();
    finding.set_severity(Finding::INVALID);
    finding.set_code(code);
    finding.set_message(code + " was found");
  }
  return result;
}

// As when all of the requests of another RPC failed.
TEST(InvalidRunTest, MissesIfRequestsFailed) {
  for (const std::vector<std::string>& codes :
       {std::vector<std::string>{"failed_rpcs"},
        {"nothing_measured", "failed_rpcs"}}) {
    const MeasuredProbe measured = Measure({"p50<=4ms"}, InvalidBy(codes));
    EXPECT_EQ(measured.outcome, kMissedOutcome);
    EXPECT_TRUE(ClearlyMissed(measured.probe));
    ASSERT_THAT(measured.measured, SizeIs(2));
    EXPECT_EQ(measured.measured[1],
              "the run is invalid: " + codes[0] + " was found");
  }
}

TEST(InvalidRunTest, SaysNothingIfTheLoadWasNotGenerated) {
  for (const char* code : {"late_sends", "unsent_load"}) {
    const MeasuredProbe measured = Measure({"p50<=4ms"}, InvalidBy({code}));
    EXPECT_EQ(measured.outcome, kGeneratorLimitedOutcome) << code;
    ASSERT_THAT(measured.measured, SizeIs(2));
    EXPECT_THAT(measured.measured[1], HasSubstr("is invalid"));
  }
}

TEST(InvalidRunTest, ThatMissedMissedByWhatItMeasured) {
  const MeasuredProbe measured =
      Measure({"p50<=500us"}, InvalidBy({"late_sends"}));
  EXPECT_EQ(measured.outcome, kMissedOutcome);
  EXPECT_NEAR(measured.probe.excess, std::log(2), 0.01);
}

TEST(InvalidRunTest, IsLostIfTheLoadExplainsNothing) {
  const std::vector<config::Objective> objectives = {
      *config::ParseObjective("p50<=4ms")};
  for (const std::vector<std::string>& codes :
       {std::vector<std::string>{"binding_not_held"},
        {"nothing_measured"},
        {"controls_not_held", "late_sends"}}) {
    const TestResult result = InvalidBy(codes);
    const absl::Status status =
        MeasureProbe({.load = 100}, objectives, result, report::AddUp(result))
            .status();
    EXPECT_TRUE(absl::IsAborted(status));
    EXPECT_EQ(std::string(status.message()),
              "the run is invalid: " + codes[0] + " was found");
  }
}

TEST(InvalidRunTest, WarningsChangeNothing) {
  TestResult result = InvalidBy({"failed_rpcs"});
  result.mutable_run_info()->mutable_findings(0)->set_severity(Finding::WARN);
  EXPECT_EQ(Measure({"p50<=4ms"}, result).outcome, kMetOutcome);
}

}  // namespace
}  // namespace distbench::search
