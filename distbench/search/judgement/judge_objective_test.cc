#include "distbench/search/judgement/judge_objective.h"

#include <cmath>
#include <variant>

#include "absl/strings/str_cat.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
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

// A result of one client, with an RPC "query" that has these latencies.
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
      Judge(Parse("query p95<=1ms"),
            ResultOf(Values(500'000, 1000), Values(2'000'000, 1000)));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(outcome->excess.estimate, DoubleNear(std::log(2), 0.01));
  EXPECT_THAT(outcome->service_excess.estimate, DoubleNear(-std::log(2), 0.01));
  EXPECT_EQ(outcome->measured, "p95 2.000 ms");
}

TEST(JudgeTest, TakesServiceTimesInClosedLoops) {
  const auto outcome =
      Judge(Parse("p50<=1ms"), ResultOf(Values(500'000, 1000), LogHistogram()));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_LT(outcome->excess.estimate, 0);
}

TEST(JudgeTest, JudgesFailuresAndRates) {
  const TestResult result =
      ResultOf(Values(500'000, 900), LogHistogram(), /*failed_count=*/100);
  const auto failures = Judge(Parse("failures<=5%"), result);
  ASSERT_TRUE(failures.ok()) << failures.status();
  EXPECT_THAT(failures->excess.estimate, DoubleNear(std::log(2), 0.01));
  // 900 RPCs in 10 s.
  const auto rate = Judge(Parse("rate>=45"), result);
  ASSERT_TRUE(rate.ok()) << rate.status();
  EXPECT_THAT(rate->excess.estimate, DoubleNear(-std::log(2), 0.01));
}

TEST(JudgeTest, JudgesTheBusiestHost) {
  TestResult result = ResultOf(Values(1, 1), LogHistogram());
  for (const int busy_percent : {20, 80}) {
    NodeResources& node =
        (*result.mutable_resource_usage_logs()
              ->mutable_node_resources())[absl::StrCat("node", busy_percent)];
    // The node manager may use one of the CPUs.
    node.mutable_host()->set_online_cpu_count(2);
    node.mutable_host()->set_cpu_count(1);
    ResourceSample& sample = *node.add_samples();
    sample.set_duration_ns(1'000'000'000);
    sample.set_host_cpu_ns(busy_percent * 20'000'000);
  }
  const auto outcome = Judge(Parse("cpu<=40%"), result);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(outcome->excess.estimate, DoubleNear(std::log(2), 0.01));
}

TEST(JudgeTest, SaysWhatTheResultLacks) {
  const TestResult result = ResultOf(Values(1, 1), LogHistogram());
  EXPECT_THAT(
      std::string(Judge(Parse("qurey p50<=1s"), result).status().message()),
      HasSubstr("there is none; the test has query"));
  EXPECT_EQ(Judge(Parse("cpu<=40%"), result).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(Judge(Parse("p50<=1s"), ResultOf(LogHistogram(), LogHistogram()))
                .status()
                .code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace distbench
