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

using ::testing::Contains;
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

RpcStatistics& StatisticsOf(TestResult& result, int client, int server) {
  auto& logs = *result.mutable_service_logs()->mutable_instance_logs();
  auto& peers = *logs[absl::StrCat("node/", client)].mutable_peer_logs();
  auto& rpcs = *peers[absl::StrCat("node/", server)].mutable_rpc_logs();
  return *rpcs[0].mutable_statistics();
}

void Fail(int client, int server, int failed, TestResult& result) {
  RpcStatistics& statistics = StatisticsOf(result, client, server);
  statistics.set_failed_count(failed);
  if (failed < 200) return;
  statistics.clear_succeeded_count();
  statistics.clear_service_time_ns();
}

// Without those that are parts of others.
std::vector<std::string> NamesOf(const MeasuredPairs& pairs) {
  std::vector<std::string> names;
  for (const ReportedPairs::Outlier& outlier : pairs.outliers) {
    if (outlier.is_part()) continue;
    names.push_back(absl::StrCat(
        outlier.figure(), " ", outlier.by() == "host" ? "" : outlier.by(),
        outlier.by() == "host" ? "" : " ",
        outlier.has_name()
            ? outlier.name()
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
  EXPECT_THAT(NamesOf(pairs), ElementsAre("p50 host10", "p50 host3"))
      << "their tails are no news, and both explain what is between them";
  EXPECT_NEAR(pairs.usual.p50_ns, 100 * kUs, kUs);
  EXPECT_THAT(pairs.outliers[0].text(),
              HasSubstr("host10, as client and server: p50 1"));
}

TEST(MeasurePairsTest, NamesAHostThatIsSlowAsServerAlone) {
  const auto as_server = [](int a, int b) {
    return a != 2 && b == 2 ? 900 : 100;
  };
  EXPECT_THAT(NamesOf(MeasurePairs(Cluster(12, as_server))),
              ElementsAre("p50 >host2"));
  const auto as_client = [&](int a, int b) { return as_server(b, a); };
  EXPECT_THAT(NamesOf(MeasurePairs(Cluster(12, as_client))),
              ElementsAre("p50 host2>"));
}

TEST(MeasurePairsTest, NamesAPairOfHostsThatAreFineOtherwise) {
  const MeasuredPairs pairs = MeasurePairs(
      Cluster(8, [](int a, int b) { return a == 1 && b == 6 ? 700 : 100; }));
  EXPECT_THAT(NamesOf(pairs), ElementsAre("p50 host1>host6"));
}

TEST(MeasurePairsTest, APairOfASlowHostMayBeSlowerStill) {
  EXPECT_THAT(NamesOf(MeasurePairs(Cluster(8,
                                           [](int a, int b) {
                                             if (a == 1 && b == 6) return 2000;
                                             return a == 1 || b == 1 ? 500
                                                                     : 100;
                                           }))),
              ElementsAre("p50 host1", "p50 host1>host6"));
}

// Most of the pairs then have a slow host.
TEST(MeasurePairsTest, NamesASlowRackAsOne) {
  const MeasuredPairs pairs = MeasurePairs(Cluster(12, [](int a, int b) {
    return 100 + (a / 4 == 1 ? 500 : 0) + (b / 4 == 1 ? 500 : 0);
  }));
  EXPECT_THAT(NamesOf(pairs), ElementsAre("p50 rack r1"));
  EXPECT_THAT(pairs.outliers[0].text(),
              HasSubstr("all hosts of rack r1, as client and server: p50 6"));
  EXPECT_THAT(pairs.outliers, SizeIs(5)) << "the hosts are there as parts";
}

TEST(MeasurePairsTest, ARackIsNotSlowBecauseSomeOfItsHostsAre) {
  EXPECT_THAT(NamesOf(MeasurePairs(Cluster(12,
                                           [](int a, int b) {
                                             return 100 +
                                                    500 * (a == 4 || a == 5) +
                                                    500 * (b == 4 || b == 5);
                                           }))),
              ElementsAre("p50 host4", "p50 host5"));
}

TEST(MeasurePairsTest, NamesASlowPathBetweenRacksAsOne) {
  const MeasuredPairs pairs = MeasurePairs(Cluster(
      20, [](int a, int b) { return a / 4 == 1 && b / 4 == 2 ? 800 : 100; }));
  EXPECT_THAT(NamesOf(pairs), ElementsAre("p50 rack r1>r2"));
  EXPECT_THAT(pairs.outliers[0].text(),
              HasSubstr("all pairs of rack r1 -> rack r2: p50 8"));
}

TEST(MeasurePairsTest, AClusterThatIsSlowAsAWholeHasNoOutliers) {
  EXPECT_THAT(
      NamesOf(MeasurePairs(Cluster(12, [](int, int) { return 50'000; }))),
      IsEmpty());
}

TEST(MeasurePairsTest, ATailOfAFewRpcsIsChance) {
  TestResult result = Cluster(8, [](int, int) { return 100; });
  const auto add_slow = [&](int client, int server, int count) {
    stats::LogHistogram times;
    times.RecordN(100 * kUs, 200 - count);
    times.RecordN(9000 * kUs, count);
    results::EncodeHistogram(
        times, *StatisticsOf(result, client, server).mutable_service_time_ns());
  };
  // p99 is that of the third of 200 already.
  add_slow(1, 6, 3);
  EXPECT_THAT(NamesOf(MeasurePairs(result)), IsEmpty());
  add_slow(1, 6, 20);
  EXPECT_THAT(NamesOf(MeasurePairs(result)), ElementsAre("p99 host1>host6"));
}

TEST(MeasurePairsTest, NamesAHostThatDoesNotAnswer) {
  TestResult result = Cluster(8, [](int, int) { return 100; });
  for (int other = 0; other < 8; ++other) {
    if (other == 5) continue;
    Fail(5, other, 200, result);
    Fail(other, 5, 200, result);
  }
  EXPECT_THAT(NamesOf(MeasurePairs(result)), ElementsAre("failed host5"));
  EXPECT_EQ(MeasurePairs(result).outliers[0].text(),
            "host5, as client and server: 2800 of 2800 RPCs failed");
  Fail(1, 2, 3, result);
  EXPECT_THAT(NamesOf(MeasurePairs(result)),
              ElementsAre("failed host5", "failed host1>host2"));
}

TEST(MeasurePairsTest, NamesHostsBeforePairs) {
  TestResult result =
      Cluster(8, [](int a, int b) { return a == 5 || b == 5 ? 500 : 100; });
  Fail(1, 2, 3, result);
  EXPECT_THAT(NamesOf(MeasurePairs(result)),
              ElementsAre("p50 host5", "failed host1>host2"));
}

TEST(MeasurePairsTest, WhoFailsWithHalfOfTheOthersIsNotNamedForAll) {
  TestResult result = Cluster(9, [](int, int) { return 100; });
  for (const int other : {0, 4, 6, 8}) Fail(5, other, 200, result);
  EXPECT_THAT(NamesOf(MeasurePairs(result)),
              ElementsAre("failed host5>host0", "failed host5>host4",
                          "failed host5>host6", "failed host5>host8"));
  Fail(5, 7, 200, result);
  EXPECT_THAT(NamesOf(MeasurePairs(result)), ElementsAre("failed host5>"));
}

TEST(MeasurePairsTest, AHostThatHardlyAnswersIsNamedOnce) {
  TestResult result =
      Cluster(8, [](int a, int b) { return a == 5 || b == 5 ? 9000 : 100; });
  for (int other = 0; other < 8; ++other) {
    if (other == 5) continue;
    StatisticsOf(result, 5, other).set_failed_count(1000);
    StatisticsOf(result, other, 5).set_failed_count(1000);
  }
  // The few that were answered say nothing new.
  EXPECT_THAT(NamesOf(MeasurePairs(result)), ElementsAre("failed host5"));
}

TEST(MeasurePairsTest, AFewMicrosecondsAreNothing) {
  EXPECT_THAT(NamesOf(MeasurePairs(
                  Cluster(8, [](int a, int) { return a == 1 ? 25 : 10; }))),
              IsEmpty());
}

// A client that sends late delays what callers see, and no service time.
TEST(MeasurePairsTest, OpenLoopsHaveResponseTimes) {
  TestResult result = Cluster(8, [](int, int) { return 100; });
  EXPECT_EQ(MeasurePairs(result).latency, PairLatency::kService);
  for (int client = 0; client < 8; ++client) {
    for (int server = 0; server < 8; ++server) {
      if (server == client) continue;
      stats::LogHistogram times;
      times.RecordN((client == 5 ? 900 : 200) * kUs, 200);
      results::EncodeHistogram(
          times,
          *StatisticsOf(result, client, server).mutable_response_time_ns());
    }
  }
  const MeasuredPairs pairs = MeasurePairs(result);
  EXPECT_EQ(pairs.latency, PairLatency::kResponse);
  EXPECT_NEAR(pairs.usual.p50_ns, 200 * kUs, 2 * kUs);
  EXPECT_EQ(pairs.matrices[0].cells[0].latency(), "response");
  EXPECT_NEAR(pairs.matrices[0].cells[0].p50_ns(), 200 * kUs, 2 * kUs);
  EXPECT_THAT(NamesOf(pairs), ElementsAre("p50 host5>"));
}

// An RPC of a closed loop beside it has service times only.
TEST(MeasurePairsTest, SayIfTheyHaveBothLatencies) {
  TestResult result = Cluster(4, [](int, int) { return 100; });
  auto& logs = *result.mutable_service_logs()->mutable_instance_logs();
  auto& rpcs =
      *(*logs["node/0"].mutable_peer_logs())["node/1"].mutable_rpc_logs();
  RpcStatistics& statistics = *rpcs[1].mutable_statistics();
  statistics = StatisticsOf(result, 0, 1);
  *statistics.mutable_response_time_ns() = statistics.service_time_ns();
  EXPECT_EQ(MeasurePairs(result).latency, PairLatency::kMixed);
}

TEST(MeasurePairsTest, NodesOfOneMachineHaveTheirOwnNames) {
  TestResult result = Cluster(4, [](int, int) { return 100; });
  for (auto& [instance, endpoint] :
       *result.mutable_placement()->mutable_service_endpoints()) {
    endpoint.set_hostname("vm");
  }
  const MeasuredPairs pairs = MeasurePairs(result);
  EXPECT_TRUE(pairs.are_nodes);
  EXPECT_THAT(pairs.matrices[0].names,
              ElementsAre("node0", "node1", "node2", "node3"));
  const std::string text = absl::StrJoin(PairLines(result), "\n");
  EXPECT_THAT(text, HasSubstr("4 nodes, 12 pairs: usual p50 "));
  EXPECT_THAT(text, HasSubstr("p50 by node, from clients"));
  EXPECT_THAT(text, Not(HasSubstr("host")));
}

TEST(PairLinesTest, SayWhatIsOutOfLine) {
  TestResult result =
      Cluster(8, [](int a, int b) { return a == 1 && b == 6 ? 700 : 100; });
  Fail(2, 3, 7, result);
  const std::string text = absl::StrJoin(PairLines(result), "\n");
  EXPECT_THAT(text, HasSubstr("8 hosts, 56 pairs: usual p50 "));
  EXPECT_THAT(text, HasSubstr(" us (service times)"));
  EXPECT_THAT(text, HasSubstr("host2 -> host3: 7 of 207 RPCs failed"));
  EXPECT_THAT(text, HasSubstr("host1 -> host6: p50 70"));
  EXPECT_THAT(text, HasSubstr("p50 by rack"));
  EXPECT_THAT(PairLines(TestResult()), IsEmpty());
  const TestResult alike = Cluster(4, [](int, int) { return 100; });
  EXPECT_THAT(PairLines(alike), Contains("  Outliers: none"));
  const TestResult few = Cluster(3, [](int, int b) { return 100 + 900 * b; });
  EXPECT_THAT(PairLines(few), Contains("  Outliers: too few hosts to tell"));
}

TEST(PairLinesTest, SayNothingOfARunWhoseNumbersAreFalse) {
  TestResult result = Cluster(4, [](int, int) { return 100; });
  Finding& finding = *result.mutable_run_info()->add_findings();
  finding.set_severity(Finding::INVALID);
  finding.set_code("late_sends");
  EXPECT_THAT(PairLines(result),
              Contains("  Outliers: unknown, as the run is invalid"));
  Fail(2, 3, 7, result);
  EXPECT_THAT(PairLines(result), Contains("  Outliers (the run is invalid):"));
  result.mutable_run_info()->set_failure("node1 was lost");
  EXPECT_THAT(PairLines(result), Contains("  Outliers (the run failed):"));
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
  EXPECT_EQ(tests->tests(0).rpc_descriptions(0).deadline_us(), 5'000'000);
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
