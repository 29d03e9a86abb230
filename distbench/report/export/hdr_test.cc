#include "distbench/report/export/hdr.h"

#include "distbench/report/testing/example_result.h"
#include "distbench/report/testing/report_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::HasSubstr;

TEST(HdrTest, FormatIsThatOfHdrHistogram) {
  stats::Outcomes outcomes;
  for (int i = 1; i <= 4; ++i) outcomes.latency_ns.Record(i * 25);
  EXPECT_EQ(RenderHdr({.outcomes = outcomes}),
            "       Value     Percentile TotalCount 1/(1-Percentile)\n"
            "\n"
            "    0.000025 0.250000000000          1           1.33\n"
            "    0.000050 0.500000000000          2           2.00\n"
            "    0.000075 0.750000000000          3           4.00\n"
            "    0.000100 1.000000000000          4\n"
            "#[Mean    =     0.000063, StdDeviation   =     0.000028]\n"
            "#[Max     =     0.000100, Total count    =            4]\n"
            "#[Buckets =           42, SubBuckets     =          128]\n");
}

TEST(HdrTest, TheCurveEndsWhereFailuresBegin) {
  stats::Outcomes outcomes;
  outcomes.latency_ns.Record(25);
  outcomes.failed_count = 3;
  const std::string text = RenderHdr({.outcomes = outcomes});
  EXPECT_THAT(text,
              HasSubstr("    0.000025 0.250000000000          1           "
                        "1.33\n#[Mean"));
  EXPECT_THAT(text, HasSubstr("#[Failed  =            3, above all values]\n"));
}

TEST(HdrTest, AnEmptyHistogramIsAnEmptyTable) {
  EXPECT_THAT(RenderHdr({}),
              HasSubstr("#[Max     =     0.000000, Total count    =            "
                        "0]\n"));
}

TEST(SelectLatencyTest, RepetitionsAreAddedUp) {
  const auto results = Sourced({MakeExampleResult({.rpcs = 1, .seed = 1}),
                                MakeExampleResult({.rpcs = 1, .seed = 2})});
  const auto latency = SelectLatency(ListRuns(results), {});
  ASSERT_TRUE(latency.ok()) << latency.status();
  EXPECT_EQ(latency->outcomes.count(), 2 * 6000);
}

TEST(SelectLatencyTest, ChoosesByTestRpcAndKind) {
  const auto results = Sourced(
      {MakeExampleResult({.name = "a"}), MakeExampleResult({.name = "b"})});
  const std::vector<TestRun> runs = ListRuns(results);
  const auto service = SelectLatency(
      runs, {.test = "b", .rpc = "rpc_1", .latency = LatencyKind::kService});
  const auto response = SelectLatency(runs, {.test = "b", .rpc = "rpc_1"});
  ASSERT_TRUE(service.ok() && response.ok());
  EXPECT_GT(response->outcomes.latency_ns.mean(),
            service->outcomes.latency_ns.mean());
}

TEST(SelectLatencyTest, ErrorsListTheChoices) {
  const auto results = Sourced(
      {MakeExampleResult({.name = "a"}), MakeExampleResult({.name = "b"})});
  const std::vector<TestRun> runs = ListRuns(results);
  EXPECT_THAT(std::string(SelectLatency(runs, {}).status().message()),
              HasSubstr("--test: a, b"));
  EXPECT_THAT(
      std::string(SelectLatency(runs, {.test = "c"}).status().message()),
      HasSubstr("no test \"c\"; it has: a, b"));
  EXPECT_THAT(
      std::string(SelectLatency(runs, {.test = "a"}).status().message()),
      HasSubstr("--rpc: rpc_0, rpc_1"));
  EXPECT_FALSE(SelectLatency({}, {}).ok());
}

TEST(SelectLatencyTest, ClosedLoopsHaveNoResponseTime) {
  const auto results = Sourced({ResultFromText(
      "traffic_config { name: 't' rpc_descriptions { name: 'r' } }")});
  EXPECT_THAT(std::string(SelectLatency(ListRuns(results),
                                        {.latency = LatencyKind::kResponse})
                              .status()
                              .message()),
              HasSubstr("--latency=service"));
  EXPECT_TRUE(SelectLatency(ListRuns(results), {}).ok());
}

}  // namespace
}  // namespace distbench::report
