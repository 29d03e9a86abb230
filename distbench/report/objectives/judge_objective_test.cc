#include "distbench/report/objectives/judge_objective.h"

#include <cmath>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/outcomes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;

Objective Parse(const std::string& text) {
  const absl::StatusOr<Objective> objective = ParseObjective(text);
  EXPECT_TRUE(objective.ok()) << objective.status();
  return objective.value_or(Objective());
}

absl::StatusOr<ObjectiveOutcome> JudgeAs(
    const std::string& objective, const TestResult& result,
    double allowed_failures = kAllowedFailures) {
  return Judge(Parse(objective), result, AddUp(result), allowed_failures);
}

// A result of one client and an RPC "query" with these latencies.
TestResult ResultOf(const LogHistogram& service, const LogHistogram& response,
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
  EncodeHistogram(service, *statistics.mutable_service_time_ns());
  EncodeHistogram(response, *statistics.mutable_response_time_ns());
  return result;
}

LogHistogram Values(int64_t value_ns, int count) {
  LogHistogram histogram;
  for (int i = 0; i < count; ++i) histogram.Record(value_ns);
  return histogram;
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
  const auto outcome =
      JudgeAs("p50<=1ms", ResultOf(Values(500'000, 1000), LogHistogram()));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_LT(outcome->excess.estimate, 0);
}

TEST(JudgeTest, JudgesFailuresAndRates) {
  const TestResult result =
      ResultOf(Values(500'000, 900), LogHistogram(), /*failed_count=*/100);
  const auto failures = JudgeAs("failures<=5%", result);
  ASSERT_TRUE(failures.ok()) << failures.status();
  EXPECT_THAT(failures->excess.estimate, DoubleNear(std::log(2), 0.01));
  // 900 RPCs in 10 s.
  const auto rate = JudgeAs("rate>=45", result, /*allowed_failures=*/0.2);
  ASSERT_TRUE(rate.ok()) << rate.status();
  EXPECT_THAT(rate->excess.estimate, DoubleNear(-std::log(2), 0.01));
}

TEST(JudgeTest, PercentilesAmongFailuresMissEveryLimit) {
  const TestResult result =
      ResultOf(Values(500'000, 970), LogHistogram(), /*failed_count=*/30);
  const auto p95 = JudgeAs("p95<=1ms", result);
  ASSERT_TRUE(p95.ok()) << p95.status();
  EXPECT_THAT(p95->excess.estimate, DoubleNear(-std::log(2), 0.01));
  EXPECT_EQ(p95->measured, "p95 0.500 ms, 3% failed");
  const auto p99 = JudgeAs("p99<=1000s", result);
  ASSERT_TRUE(p99.ok()) << p99.status();
  EXPECT_TRUE(std::isinf(p99->excess.estimate));
  EXPECT_TRUE(std::isinf(p99->service_excess.estimate));
  EXPECT_EQ(p99->measured, "p99 failed (3% of the RPCs failed)");
}

TEST(JudgeTest, NothingSucceededIsAMissOfEveryLatency) {
  const TestResult result =
      ResultOf(LogHistogram(), LogHistogram(), /*failed_count=*/50);
  for (const char* objective : {"mean<=10ms", "p50<=10ms", "rate>=1"}) {
    const auto outcome = JudgeAs(objective, result);
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_GT(outcome->excess.estimate, 100) << objective;
  }
  EXPECT_EQ(JudgeAs("mean<=10ms", result)->measured,
            "mean failed (100% of the RPCs failed)");
}

TEST(JudgeTest, MeansMissIfMoreFailedThanIsAllowed) {
  const TestResult result =
      ResultOf(Values(500'000, 990), LogHistogram(), /*failed_count=*/10);
  EXPECT_TRUE(std::isinf(JudgeAs("mean<=1ms", result)->excess.estimate));
  EXPECT_LT(JudgeAs("mean<=1ms", result, 0.02)->excess.estimate, 0);
  EXPECT_EQ(JudgeAs("mean<=1ms", result)->measured,
            "mean 0.500 ms, 1% failed");
}

TEST(AllowedFailuresTest, AreTheLimitOfAnObjectiveOfTheSameRpc) {
  const std::vector<Objective> objectives = {
      Parse("a mean<=1ms"), Parse("a failures<=2%"), Parse("b rate>=1")};
  EXPECT_DOUBLE_EQ(AllowedFailures(objectives[0], objectives), 0.02);
  EXPECT_DOUBLE_EQ(AllowedFailures(objectives[2], objectives),
                   kAllowedFailures);
}

// RPCs that were due but never sent have no response time.
TEST(JudgeTest, UnsentRpcsCountAsFailed) {
  TestResult result =
      ResultOf(Values(500'000, 900), Values(600'000, 900));
  OfferedLoad& load =
      (*(*result.mutable_service_logs()->mutable_instance_logs())["client/0"]
            .mutable_offered_loads())[0];
  load.set_offered_count(1000);
  load.set_unsent_count(100);
  EncodeHistogram(Values(1000, 100), *load.mutable_unsent_wait_ns());
  const auto p95 = JudgeAs("p95<=1ms", result);
  ASSERT_TRUE(p95.ok()) << p95.status();
  EXPECT_TRUE(std::isinf(p95->excess.estimate));
  EXPECT_LT(p95->service_excess.estimate, 0);
}

TEST(JudgeTest, JudgesTheBusiestHost) {
  TestResult result = ResultOf(Values(1, 1), LogHistogram());
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

TEST(JudgeTest, SaysWhatTheResultLacks) {
  const TestResult result = ResultOf(Values(1, 1), LogHistogram());
  EXPECT_THAT(
      std::string(JudgeAs("qurey p50<=1s", result).status().message()),
      HasSubstr("which is absent; the test has query"));
  EXPECT_EQ(JudgeAs("cpu<=40%", result).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(JudgeAs("p50<=1s", ResultOf(LogHistogram(), LogHistogram()))
                .status()
                .code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace distbench
