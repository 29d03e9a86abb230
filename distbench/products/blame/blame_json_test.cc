#include <nlohmann/json.hpp>

#include "distbench/products/blame/testing/simulated_requests.h"
#include "distbench/report/json/json.h"
#include "distbench/report/testing/example_result.h"
#include "distbench/report/testing/report_testing.h"
#include "gtest/gtest.h"

namespace distbench::blame {
namespace {

using Json = nlohmann::json;

Json BlameOf(const TestResult& result) {
  const auto results = report::Sourced({result});
  return Json::parse(
      report::RenderJson(report::InputOf(results)))["tests"][0]["blame"];
}

TEST(JsonBlameTest, WithoutTracesItIsNull) {
  EXPECT_TRUE(BlameOf(report::MakeExampleResult({})).is_null());
}

TEST(JsonBlameTest, ASlowLeafIsNamed) {
  const Json blame =
      BlameOf(ResultOf(Simulate({.is_random = false,
                                 .trouble = {.rpc = kLookup,
                                             .instance = 3,
                                             .probability = 0.05,
                                             .extra_ns = 3'000'000}})));
  EXPECT_EQ(blame["rootless_count"], 0);
  ASSERT_EQ(blame["requests"].size(), 1);
  const Json& requests = blame["requests"][0];
  EXPECT_EQ(requests["rpc"], "query");
  EXPECT_EQ(requests["latency"], "service_time");
  EXPECT_EQ(requests["trace_count"], 2'000);
  EXPECT_EQ(requests["succeeded_count"], 2'000);
  EXPECT_EQ(requests["call_count"], 24'000);

  const Json& tail = requests["quantiles"][1];
  EXPECT_EQ(tail["percentile"], 99);
  EXPECT_EQ(tail["trace_count"], 40);
  const Json& largest = tail["shares"][0];
  EXPECT_EQ(largest["rpc"], "lookup");
  EXPECT_EQ(largest["part"], "server_handler");
  EXPECT_TRUE(largest["instance"].is_null());
  EXPECT_NEAR(largest["share"].get<double>(), 3.1 / 3.9, 1e-9);
  EXPECT_NEAR(largest["excess_lower"].get<double>(), 1, 1e-9);
  EXPECT_EQ(tail["instances"][0]["instance"], "leaf/3");
  EXPECT_TRUE(requests["quantiles"][0]["shares"][0]["excess"].is_null());

  // There is no p99.9.
  EXPECT_EQ(requests["quantiles"][2]["trace_count"], 0);
  EXPECT_EQ(requests["quantiles"][2]["needed_count"], 15'000);
  EXPECT_TRUE(requests["quantiles"][2]["mean_ns"].is_null());

  const Json& straggler = requests["stragglers"][0];
  EXPECT_EQ(straggler["instance"], "leaf/3");
  EXPECT_EQ(straggler["is_to_blame"], true);
  EXPECT_EQ(straggler["tail"]["last_count"], 40);
  // Elsewhere all leaves end together, so nobody is last.
  EXPECT_EQ(straggler["all"]["last_count"], straggler["all"]["fanout_count"]);

  EXPECT_EQ(requests["what_ifs"]["p99_ns"], 3'900'000);
  const Json& remedy = requests["what_ifs"]["remedies"][0];
  EXPECT_EQ(remedy["instance"], "leaf/3");
  EXPECT_EQ(remedy["p99_ns"], 900'000);
}

TEST(JsonBlameTest, TooFewTracesHaveNoWhatIfs) {
  const Json blame = BlameOf(ResultOf(Simulate({.requests = 100})));
  EXPECT_TRUE(blame["requests"][0]["what_ifs"].is_null());
}

}  // namespace
}  // namespace distbench::blame
