// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/objectives/objectives.h"

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/outcomes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::ContainsRegex;
using ::testing::DoubleNear;
using ::testing::HasSubstr;

config::Objective Parse(const std::string& text) {
  const absl::StatusOr<config::Objective> objective =
      config::ParseObjective(text);
  EXPECT_TRUE(objective.ok()) << objective.status();
  return objective.value_or(config::Objective());
}

absl::StatusOr<ObjectiveOutcome> JudgeAs(
    const std::string& objective, const TestResult& result,
    double allowed_failures = stats::kAllowedFailures) {
  return Judge(Parse(objective), result, AddUp(result), allowed_failures);
}

// A result of one client and an RPC "query" with these latencies.
TestResult ResultOf(const stats::LogHistogram& service,
                    const stats::LogHistogram& response,
                    int64_t failed_count = 0) {
  TestResult result;
  result.mutable_traffic_config()->add_rpc_descriptions()->set_name("query");
  RpcStatistics& statistics =
      *(*(*(*result.mutable_service_logs()->mutable_instance_logs())["client/0"]
               .mutable_peer_logs())["server/0"]
             .mutable_rpc_logs())[0]
           .mutable_statistics();
  statistics.set_succeeded_count(service.count());
  statistics.set_failed_count(failed_count);
  statistics.set_first_start_timestamp_ns(1'000'000'000);
  statistics.set_last_end_timestamp_ns(11'000'000'000);
  results::EncodeHistogram(service, *statistics.mutable_service_time_ns());
  results::EncodeHistogram(response, *statistics.mutable_response_time_ns());
  return result;
}

stats::LogHistogram Values(int64_t value_ns, int count) {
  stats::LogHistogram histogram;
  for (int i = 0; i < count; ++i) histogram.Record(value_ns);
  return histogram;
}

// Seconds with RPCs of these latencies, and failures.
struct Second {
  int64_t latency_ns;
  int count = 100;
  int failed_count = 0;
};
TestResult ResultOverTime(const std::vector<Second>& seconds) {
  stats::LogHistogram all;
  int failed_count = 0;
  RpcTimeSeries series;
  series.set_interval_ns(1'000'000'000);
  for (size_t i = 0; i < seconds.size(); ++i) {
    const stats::LogHistogram latency =
        Values(seconds[i].latency_ns, seconds[i].count);
    all.Merge(latency);
    failed_count += seconds[i].failed_count;
    RpcInterval& interval = *series.add_intervals();
    interval.set_index(i);
    interval.set_succeeded_count(seconds[i].count);
    interval.set_failed_count(seconds[i].failed_count);
    results::EncodeHistogram(latency, *interval.mutable_service_time_ns());
  }
  TestResult result = ResultOf(all, stats::LogHistogram(), failed_count);
  (*(*result.mutable_service_logs()->mutable_instance_logs())["client/0"]
        .mutable_rpc_time_series())[0] = series;
  return result;
}

TEST(JudgeTest, ComparesResponseTimesAndKnowsServiceTimes) {
  const auto outcome =
      JudgeAs("query p95<=1ms",
              ResultOf(Values(500'000, 1000), Values(2'000'000, 1000)));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(outcome->excess.estimate, DoubleNear(std::log(2), 0.01));
  EXPECT_THAT(outcome->service_excess.estimate, DoubleNear(-std::log(2), 0.01));
  EXPECT_EQ(outcome->measured, "p95 2.000 ms");
}

TEST(JudgeTest, TakesServiceTimesInClosedLoops) {
  const auto outcome = JudgeAs(
      "p50<=1ms", ResultOf(Values(500'000, 1000), stats::LogHistogram()));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_LT(outcome->excess.estimate, 0);
}

TEST(JudgeTest, JudgesFailuresAndRates) {
  const TestResult result = ResultOf(
      Values(500'000, 900), stats::LogHistogram(), /*failed_count=*/100);
  const auto failures = JudgeAs("failures<=5%", result);
  ASSERT_TRUE(failures.ok()) << failures.status();
  EXPECT_THAT(failures->excess.estimate, DoubleNear(std::log(2), 0.01));
  // 900 RPCs in 10 s.
  const auto rate = JudgeAs("rate>=45", result, /*allowed_failures=*/0.2);
  ASSERT_TRUE(rate.ok()) << rate.status();
  EXPECT_THAT(rate->excess.estimate, DoubleNear(-std::log(2), 0.01));
}

TEST(JudgeTest, PercentilesAmongFailuresMissEveryLimit) {
  const TestResult result = ResultOf(
      Values(500'000, 970), stats::LogHistogram(), /*failed_count=*/30);
  const auto p95 = JudgeAs("p95<=1ms", result);
  ASSERT_TRUE(p95.ok()) << p95.status();
  EXPECT_THAT(p95->excess.estimate, DoubleNear(-std::log(2), 0.01));
  EXPECT_EQ(p95->measured, "p95 500.0 us, 3 % failed");
  const auto p99 = JudgeAs("p99<=1000s", result);
  ASSERT_TRUE(p99.ok()) << p99.status();
  EXPECT_TRUE(std::isinf(p99->excess.estimate));
  EXPECT_TRUE(std::isinf(p99->service_excess.estimate));
  EXPECT_EQ(p99->measured, "p99 failed (3 % of the RPCs failed)");
}

// The server was killed: seconds so different do not bound a percentile.
TEST(JudgeTest, MoreFailuresAreNoMilderMiss) {
  const std::vector<Second> killed = {
      {.latency_ns = 500'000},
      {.latency_ns = 500'000},
      {.latency_ns = 500'000, .count = 36, .failed_count = 64},
      {.latency_ns = 500'000, .count = 0, .failed_count = 100},
      {.latency_ns = 500'000, .count = 0, .failed_count = 100}};
  for (const char* objective : {"p99<=50ms", "p99>=1us"}) {
    const auto outcome = JudgeAs(objective, ResultOverTime(killed));
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    ASSERT_TRUE(outcome->estimate.lower.has_value());
    EXPECT_TRUE(std::isfinite(*outcome->estimate.lower));
    EXPECT_TRUE(outcome->is_certain_miss);
    EXPECT_TRUE(std::isinf(outcome->excess.estimate));
    EXPECT_THAT(
        outcome->measured,
        ContainsRegex("^p99 failed \\(52.8 % of the RPCs failed\\), and at "
                      "least [0-9.]+ % do \\(95 % interval\\), more than "
                      "the 1 % above a p99$"));
  }
}

// In one of ten seconds a few fail: that may be chance.
TEST(JudgeTest, FailuresThatMayBeChanceLeaveAPercentileUndecided) {
  std::vector<Second> seconds(10, {.latency_ns = 500'000});
  seconds[4].failed_count = 16;
  const auto outcome = JudgeAs("p99<=50ms", ResultOverTime(seconds));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_TRUE(std::isinf(outcome->estimate.value));
  EXPECT_FALSE(outcome->is_certain_miss);
  EXPECT_EQ(outcome->measured, "p99 failed (1.57 % of the RPCs failed)");
}

TEST(JudgeTest, NothingSucceededIsAMissOfEveryLatency) {
  const TestResult result = ResultOf(
      stats::LogHistogram(), stats::LogHistogram(), /*failed_count=*/50);
  for (const char* objective : {"mean<=10ms", "p50<=10ms", "rate>=1"}) {
    const auto outcome = JudgeAs(objective, result);
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_GT(outcome->excess.estimate, 100) << objective;
  }
  EXPECT_EQ(JudgeAs("mean<=10ms", result)->measured,
            "mean failed (100 % of the RPCs failed)");
}

TEST(JudgeTest, MeansMissIfMoreFailedThanIsAllowed) {
  const TestResult result = ResultOf(
      Values(500'000, 990), stats::LogHistogram(), /*failed_count=*/10);
  EXPECT_TRUE(std::isinf(JudgeAs("mean<=1ms", result)->excess.estimate));
  EXPECT_LT(JudgeAs("mean<=1ms", result, 0.02)->excess.estimate, 0);
  EXPECT_EQ(JudgeAs("mean<=1ms", result, 0.02)->measured,
            "mean 500.0 us, 1 % failed");
  EXPECT_EQ(JudgeAs("mean<=1ms", result)->measured,
            "mean 500.0 us, 1 % failed, more than the 0.1 % allowed");
}

TEST(AllowedFailuresTest, AreTheLimitOfAnObjectiveOfTheSameRpc) {
  const std::vector<config::Objective> objectives = {
      Parse("a mean<=1ms"), Parse("a failures<=2%"), Parse("b rate>=1")};
  TestResult result;
  for (const char* name : {"a", "b"}) {
    result.mutable_traffic_config()->add_rpc_descriptions()->set_name(name);
  }
  EXPECT_DOUBLE_EQ(AllowedFailures(objectives[0], objectives, result), 0.02);
  EXPECT_DOUBLE_EQ(AllowedFailures(objectives[2], objectives, result),
                   stats::kAllowedFailures);
}

// Whatever their order.
TEST(AllowedFailuresTest, AreTheStricterOfTwoLimits) {
  TestResult result;
  result.mutable_traffic_config()->add_rpc_descriptions()->set_name("a");
  const config::Objective strict = Parse("a failures<=0.01%");
  const config::Objective lax = Parse("failures<=2%");
  EXPECT_DOUBLE_EQ(AllowedFailures(strict, {strict, lax}, result), 0.0001);
  EXPECT_DOUBLE_EQ(AllowedFailures(strict, {lax, strict}, result), 0.0001);
}

// Another RPC ran before and after this one.
TEST(JudgeTest, TheRateIsThatOfTheTimeOfItsRpc) {
  TestResult result = ResultOf(Values(500'000, 900), stats::LogHistogram());
  result.mutable_traffic_config()->add_rpc_descriptions()->set_name("other");
  RpcStatistics& other = *(*result.mutable_service_logs()
                                ->mutable_instance_logs()
                                ->at("client/0")
                                .mutable_peer_logs()
                                ->at("server/0")
                                .mutable_rpc_logs())[1]
                              .mutable_statistics();
  other.set_succeeded_count(1);
  other.set_first_start_timestamp_ns(500'000'000);
  other.set_last_end_timestamp_ns(31'000'000'000);
  results::EncodeHistogram(Values(1, 1), *other.mutable_service_time_ns());
  EXPECT_EQ(JudgeAs("query rate>=80", result)->measured, "rate 90/s");
}

// 200 RPCs in each of ten seconds, or none in some of them and more in others.
TEST(JudgeTest, TheIntervalOfARateIsThatOfHowItWasSent) {
  const auto judged = [](const std::vector<int>& counts) {
    RpcTimeSeries series;
    series.set_interval_ns(1'000'000'000);
    stats::LogHistogram all;
    for (size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] == 0) continue;
      const stats::LogHistogram latency = Values(1'000'000, counts[i]);
      all.Merge(latency);
      RpcInterval& interval = *series.add_intervals();
      interval.set_index(i);
      interval.set_succeeded_count(counts[i]);
      results::EncodeHistogram(latency, *interval.mutable_service_time_ns());
    }
    TestResult result = ResultOf(all, stats::LogHistogram());
    (*result.mutable_service_logs()
          ->mutable_instance_logs()
          ->at("client/0")
          .mutable_rpc_time_series())[0] = series;
    return *JudgeAs("rate>=195", result);
  };
  // A Poisson process would leave 4 % open.
  const ObjectiveOutcome even = judged(std::vector<int>(10, 200));
  EXPECT_EQ(even.measured, "rate 200/s");
  EXPECT_GT(*even.estimate.lower, 199);
  EXPECT_LT(*even.estimate.upper, 201);
  std::vector<int> stalling(10, 200);
  for (const size_t second : {2, 5}) {
    stalling[second] = 0;
    stalling[second + 1] = 400;
  }
  EXPECT_LT(*judged(stalling).estimate.lower, 150);
  // Nothing until the last second, which is not whole.
  std::vector<int> stalled_at_the_end(10, 250);
  stalled_at_the_end[7] = stalled_at_the_end[8] = 0;
  EXPECT_LT(*judged(stalled_at_the_end).estimate.lower, 150);
}

// Five seconds are too few for the blocks of reports.
TEST(JudgeTest, SecondsOfAShortRunShowThatRpcsDependOnEachOther) {
  const auto outcome = JudgeAs(
      "p50<=1ms",
      ResultOverTime({{100'000}, {300'000}, {200'000}, {100'000}, {300'000}}));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  // Five seconds that differ so much do not bound the median; 500 independent
  // RPCs would.
  EXPECT_FALSE(outcome->estimate.lower.has_value());
  EXPECT_FALSE(outcome->estimate.upper.has_value());
  EXPECT_EQ(outcome->excess.error, 0.25);
  EXPECT_FALSE(outcome->estimate.has_grown);
}

TEST(JudgeTest, ErrorsOfRunsWithoutBlocksAreAssumed) {
  for (const char* objective : {"p50<=1ms", "mean<=1ms"}) {
    const auto brief =
        JudgeAs(objective, ResultOverTime({{200'000}, {200'000}, {200'000}}));
    const auto longer =
        JudgeAs(objective,
                ResultOverTime({{200'000}, {200'000}, {200'000}, {200'000}}));
    EXPECT_EQ(brief->excess.error, 0.25) << objective;
    EXPECT_LT(longer->excess.error, 0.01) << objective;
  }
}

TEST(JudgeTest, FewBlocksMakeTheErrorOfAMeanLarger) {
  const auto error = [](int repetitions) {
    std::vector<Second> seconds;
    for (int i = 0; i < repetitions; ++i) {
      seconds.insert(seconds.end(), {{100'000}, {300'000}});
    }
    return JudgeAs("mean<=1ms", ResultOverTime(seconds))->excess.error;
  };
  // Four times the blocks halve a standard error. The quantile of Student's t
  // distribution falls, too: from 3.18 to 2.13.
  EXPECT_GT(error(2), 3 * error(8));
}

TEST(JudgeTest, NoticesThatLatenciesGrow) {
  const TestResult growing = ResultOverTime(
      {{100'000}, {200'000}, {300'000}, {400'000}, {500'000}, {600'000}});
  EXPECT_TRUE(JudgeAs("p50<=1ms", growing)->estimate.has_grown);
  EXPECT_TRUE(JudgeAs("mean<=1ms", growing)->estimate.has_grown);
  EXPECT_FALSE(JudgeAs("failures<=1%", growing)->estimate.has_grown);
}

TEST(JudgeTest, FailuresThatComeTogetherCountForFewer) {
  std::vector<Second> even(20, {.latency_ns = 1000, .failed_count = 2});
  std::vector<Second> burst(20, {.latency_ns = 1000});
  burst[7].failed_count = 40;
  const auto by_even = JudgeAs("failures<=5%", ResultOverTime(even));
  const auto by_burst = JudgeAs("failures<=5%", ResultOverTime(burst));
  EXPECT_EQ(by_even->excess.estimate, by_burst->excess.estimate);
  EXPECT_LT(*by_even->estimate.upper, 0.03);
  EXPECT_GT(*by_burst->estimate.upper, 0.05);
}

// RPCs that were due but never sent have no response time.
TEST(JudgeTest, UnsentRpcsCountAsFailed) {
  TestResult result = ResultOf(Values(500'000, 900), Values(600'000, 900));
  OfferedLoad& load =
      (*(*result.mutable_service_logs()->mutable_instance_logs())["client/0"]
            .mutable_offered_loads())[0];
  load.set_offered_count(1000);
  load.set_unsent_count(100);
  results::EncodeHistogram(Values(1000, 100), *load.mutable_unsent_wait_ns());
  const auto p95 = JudgeAs("p95<=1ms", result);
  ASSERT_TRUE(p95.ok()) << p95.status();
  EXPECT_TRUE(std::isinf(p95->excess.estimate));
  EXPECT_LT(p95->service_excess.estimate, 0);
}

TEST(JudgeTest, JudgesTheBusiestHost) {
  TestResult result = ResultOf(Values(1, 1), stats::LogHistogram());
  for (const int busy_percent : {20, 80}) {
    NodeResources& node =
        (*result.mutable_resource_usage_logs()
              ->mutable_node_resources())[absl::StrCat("node", busy_percent)];
    // The node manager may use only one of the CPUs.
    node.mutable_host()->set_online_cpu_count(2);
    node.mutable_host()->set_cpu_count(1);
    ResourceSample& sample = *node.add_samples();
    sample.set_duration_ns(1'000'000'000);
    sample.set_host_cpu_ns(busy_percent * 20'000'000);
  }
  const auto outcome = JudgeAs("cpu<=40%", result);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(outcome->excess.estimate, DoubleNear(std::log(2), 0.01));
}

TEST(JudgeTest, SecondsOfAHostTellHowWellItsCpuTimeIsKnown) {
  const auto judged = [](const std::vector<int>& busy_percents) {
    TestResult result = ResultOf(Values(1, 1), stats::LogHistogram());
    NodeResources& node = (*result.mutable_resource_usage_logs()
                                ->mutable_node_resources())["node0"];
    for (const int percent : busy_percents) {
      ResourceSample& sample = *node.add_samples();
      sample.set_duration_ns(1'000'000'000);
      sample.set_host_cpu_ns(percent * 10'000'000);
    }
    return *JudgeAs("cpu<=60%", result);
  };
  const ObjectiveOutcome steady = judged({50, 51, 50, 49, 50, 50, 51, 49});
  EXPECT_GT(*steady.estimate.lower, 0.49);
  EXPECT_LT(*steady.estimate.upper, 0.51);
  const ObjectiveOutcome uneven = judged({90, 10, 90, 10, 90, 10, 90, 10});
  EXPECT_NEAR(uneven.estimate.value, 0.5, 1e-9);
  EXPECT_GT(*uneven.estimate.upper, 0.7);
  // No host is busier than all of the time.
  EXPECT_EQ(*judged({99, 20, 99, 99, 99, 99}).estimate.upper, 1);
  EXPECT_EQ(*judged({90, 90}).estimate.upper, 1);
  // Two seconds say nothing.
  EXPECT_GT(*judged({50, 50}).estimate.upper, 0.7);
}

TEST(JudgeTest, CpuTimeOfTheWarmUpIsNotJudged) {
  constexpr int64_t kSecondNs = 1'000'000'000;
  TestResult result = ResultOf(Values(1, 1), stats::LogHistogram());
  RpcStatistics& statistics =
      *(*(*(*result.mutable_service_logs()->mutable_instance_logs())["client/0"]
               .mutable_peer_logs())
             .begin()
             ->second.mutable_rpc_logs())[0]
           .mutable_statistics();
  statistics.set_first_start_timestamp_ns(10 * kSecondNs);
  statistics.set_last_end_timestamp_ns(15 * kSecondNs);
  NodeResources& node = (*result.mutable_resource_usage_logs()
                              ->mutable_node_resources())["node0"];
  for (int second = 5; second <= 16; ++second) {
    ResourceSample& sample = *node.add_samples();
    // A sample is not of the same second as the traffic.
    sample.set_end_timestamp_ns(second * kSecondNs + kSecondNs / 4);
    sample.set_duration_ns(kSecondNs);
    const bool is_measured = second > 10 && second <= 15;
    sample.set_host_cpu_ns((is_measured ? 40 : 90) * 10'000'000);
  }
  EXPECT_NEAR(JudgeAs("cpu<=60%", result)->estimate.value, 0.4, 1e-9);
  // Without a measured sample, all there is.
  statistics.set_last_end_timestamp_ns(10 * kSecondNs);
  EXPECT_GT(JudgeAs("cpu<=60%", result)->estimate.value, 0.6);
}

TEST(JudgeTest, NoFailuresAreNone) {
  const TestResult result =
      ResultOf(Values(500'000, 900), stats::LogHistogram());
  EXPECT_EQ(JudgeAs("failures<=5%", result)->estimate.value, 0);
  EXPECT_NEAR(JudgeAs("p50<=1ms", result)->estimate.value, 500'000, 5'000);
}

// The p95 succeeded, but the upper bound of its interval did not.
TEST(JudgeTest, AnIntervalUpToFailuresIsOpenEnded) {
  const TestResult result =
      ResultOf(Values(500'000, 955), stats::LogHistogram(), 45);
  const auto p95 = JudgeAs("p95<=1ms", result);
  ASSERT_TRUE(p95.ok()) << p95.status();
  EXPECT_TRUE(std::isinf(*p95->estimate.upper));
  EXPECT_EQ(p95->excess.error, kUnknownError);
}

TEST(JudgeTest, SaysWhatTheResultLacks) {
  const TestResult result = ResultOf(Values(1, 1), stats::LogHistogram());
  EXPECT_THAT(std::string(JudgeAs("qurey p50<=1s", result).status().message()),
              HasSubstr("which is absent; the test has query"));
  EXPECT_EQ(JudgeAs("cpu<=40%", result).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(
      JudgeAs("p50<=1s", ResultOf(stats::LogHistogram(), stats::LogHistogram()))
          .status()
          .code(),
      absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace distbench::report
