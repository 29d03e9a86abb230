// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/all_pairs/pairs.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/products/all_pairs/pair_tests.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::all_pairs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr int64_t kUs = 1000;

// All pairs of so many hosts, four to a rack; of each pair 200 RPCs, which took
// what `us_of` says.
TestResult Cluster(int hosts, const std::function<int64_t(int, int)>& us_of) {
  TestResult result;
  auto& test = *result.mutable_traffic_config();
  (*test.mutable_attributes())[kTestAttribute] = "steady";
  test.add_services()->set_name("node");
  test.add_rpc_descriptions()->set_name("pair");
  for (int client = 0; client < hosts; ++client) {
    const std::string name = absl::StrCat("node/", client);
    ServiceEndpoint& endpoint =
        (*result.mutable_placement()->mutable_service_endpoints())[name];
    endpoint.set_hostname(absl::StrCat("host", client));
    endpoint.set_node_alias(absl::StrCat("node", client));
    Attribute& rack = *endpoint.add_attributes();
    rack.set_name("rack");
    rack.set_value(absl::StrCat("r", client / 4));
    Attribute& serial = *endpoint.add_attributes();
    serial.set_name("serial");
    serial.set_value(absl::StrCat(client));
    for (int server = 0; server < hosts; ++server) {
      if (server == client) continue;
      stats::LogHistogram times;
      times.RecordN(us_of(client, server) * kUs, 200);
      RpcStatistics& statistics =
          *(*(*(*result.mutable_service_logs()->mutable_instance_logs())[name]
                   .mutable_peer_logs())[absl::StrCat("node/", server)]
                 .mutable_rpc_logs())[0]
               .mutable_statistics();
      statistics.set_succeeded_count(200);
      results::EncodeHistogram(times, *statistics.mutable_service_time_ns());
    }
  }
  return result;
}

std::vector<std::string> NamesOf(const MeasuredPairs& pairs) {
  std::vector<std::string> names;
  for (const ReportedPairs::Outlier& outlier : pairs.outliers) {
    names.push_back(absl::StrCat(
        outlier.figure(), " ",
        outlier.has_host()
            ? outlier.host()
            : absl::StrCat(outlier.client(), ">", outlier.server())));
  }
  return names;
}

TEST(MeasurePairsTest, HasAMatrixByHostAndByRack) {
  const MeasuredPairs pairs = MeasurePairs(
      Cluster(12, [](int a, int b) { return a / 4 == b / 4 ? 100 : 110; }));
  ASSERT_THAT(pairs.matrices, SizeIs(2)) << "each host has its own serial";
  EXPECT_EQ(pairs.matrices[0].by, "host");
  EXPECT_THAT(pairs.matrices[0].cells, SizeIs(132));
  EXPECT_EQ(pairs.matrices[0].names[2], "host2") << "before host10";
  EXPECT_EQ(pairs.matrices[1].by, "rack");
  EXPECT_THAT(pairs.matrices[1].names, ElementsAre("r0", "r1", "r2"));
  ASSERT_THAT(pairs.matrices[1].cells, SizeIs(9));
  EXPECT_EQ(pairs.matrices[1].cells[0].pairs(), 12);
  EXPECT_EQ(pairs.matrices[1].cells[1].pairs(), 16);
  EXPECT_NEAR(pairs.matrices[1].cells[0].p50_ns(), 100 * kUs, kUs);
  EXPECT_NEAR(pairs.matrices[1].cells[1].p50_ns(), 110 * kUs, kUs);
  EXPECT_THAT(pairs.outliers, IsEmpty());
}

TEST(MeasurePairsTest, NamesHostsThatAreSlowWithEverybody) {
  const MeasuredPairs pairs = MeasurePairs(Cluster(12, [](int a, int b) {
    const bool is_slow = a == 3 || b == 3;
    const bool is_slower = a == 10 || b == 10;
    return 100 + (is_slow ? 400 : 0) + (is_slower ? 900 : 0);
  }));
  EXPECT_THAT(NamesOf(pairs), ElementsAre("p50 host10", "p99 host10",
                                          "p50 host3", "p99 host3"));
}

TEST(MeasurePairsTest, NamesAPairOfHostsThatAreFineOtherwise) {
  const MeasuredPairs pairs = MeasurePairs(
      Cluster(8, [](int a, int b) { return a == 1 && b == 6 ? 700 : 100; }));
  EXPECT_THAT(NamesOf(pairs),
              ElementsAre("p50 host1>host6", "p99 host1>host6"));
}

TEST(MeasurePairsTest, AFewMicrosecondsAreNothing) {
  EXPECT_THAT(NamesOf(MeasurePairs(
                  Cluster(8, [](int a, int) { return a == 1 ? 25 : 10; }))),
              IsEmpty());
}

TEST(MeasurePairsTest, NodesOfOneMachineHaveTheirOwnNames) {
  TestResult result = Cluster(4, [](int, int) { return 100; });
  for (auto& [instance, endpoint] :
       *result.mutable_placement()->mutable_service_endpoints()) {
    endpoint.set_hostname("vm");
  }
  EXPECT_THAT(MeasurePairs(result).matrices[0].names,
              ElementsAre("node0", "node1", "node2", "node3"));
}

TEST(PairLinesTest, SayWhatIsOutOfLine) {
  TestResult result =
      Cluster(8, [](int a, int b) { return a == 1 && b == 6 ? 700 : 100; });
  (*(*(*result.mutable_service_logs()->mutable_instance_logs())["node/2"]
          .mutable_peer_logs())["node/3"]
        .mutable_rpc_logs())[0]
      .mutable_statistics()
      ->set_failed_count(7);
  const std::string text = absl::StrJoin(PairLines(result), "\n");
  EXPECT_THAT(text, HasSubstr("8 hosts, 56 pairs"));
  EXPECT_THAT(text, HasSubstr("host2 -> host3: 7 of 207 RPCs failed"));
  EXPECT_THAT(text, HasSubstr("host1 -> host6: p50 70"));
  EXPECT_THAT(text, HasSubstr("p50 by rack"));
  EXPECT_THAT(PairLines(TestResult()), IsEmpty());
}

TEST(PairLinesTest, LeaveOutAMatrixThatNobodyCanRead) {
  const std::string text =
      absl::StrJoin(PairLines(Cluster(30, [](int, int) { return 100; })), "\n");
  EXPECT_THAT(text, HasSubstr("The matrix by host has 30 columns"));
  EXPECT_THAT(text, Not(HasSubstr("host29")));
}

TEST(MakePairTestsTest, MakesASteadyOneAndBursts) {
  const auto tests = MakePairTests({.node_count = 5});
  ASSERT_TRUE(tests.ok()) << tests.status();
  ASSERT_EQ(tests->tests_size(), 2);
  const Iterations& steady = tests->tests(0).actions(0).iterations();
  EXPECT_EQ(steady.open_loop_interval_ns(), 12'500'000) << "80 per second";
  EXPECT_EQ(tests->tests(0).rpc_descriptions(0).fanout_filter(), "round_robin");
  const Iterations& burst = tests->tests(1).actions(0).iterations();
  EXPECT_EQ(burst.open_loop_interval_ns(), 50'000'000);
  EXPECT_EQ(burst.open_loop_interval_distribution(), "sync_burst");
}

TEST(MakePairTestsTest, ManyNodesGetALowerRate) {
  const auto tests = MakePairTests({.node_count = 1001});
  ASSERT_TRUE(tests.ok()) << tests.status();
  EXPECT_EQ(tests->tests(0).actions(0).iterations().open_loop_interval_ns(),
            500'000);
}

TEST(MakePairTestsTest, RefusesALoneNode) {
  EXPECT_THAT(std::string(MakePairTests({.node_count = 1}).status().message()),
              HasSubstr("pairs need two nodes or more, and there is one"));
}

}  // namespace
}  // namespace distbench::all_pairs
