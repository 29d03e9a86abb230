// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/report/derived/derive.h"
#include "distbench/report/testing/report_testing.h"
#include "distbench/results/rpc_totals.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::ElementsAre;

using Row = Report::InstanceTable::Row;

// With all instances.
Report::Topology TopologyOf(const TestResult& result) {
  return DeriveTopology(result, std::numeric_limits<int64_t>::max());
}

// The main list of "load" sends "query" by a list of its own; "root" answers it
// with the help of "leaf".
constexpr char kThreeTiers[] = R"pb(
  traffic_config {
    services { name: "leaf" count: 3 }
    services { name: "root" x_size: 2 y_size: 2 }
    services { name: "load" count: 2 }
    services { name: "idle" count: 1 }
    rpc_descriptions { name: "fetch" client: "root" server: "leaf" }
    rpc_descriptions { name: "query" client: "load" server: "root" }
    action_lists { name: "load" action_names: "start" }
    action_lists { name: "burst" action_names: "send" action_names: "start" }
    action_lists { name: "query" action_names: "ask" }
    actions { name: "start" action_list_name: "burst" }
    actions { name: "send" rpc_name: "query" }
    actions { name: "ask" rpc_name: "fetch" }
  }
)pb";

std::vector<std::string> Services(const Report::Topology& topology) {
  std::vector<std::string> texts;
  for (const Report::Service& service : topology.services()) {
    texts.push_back(absl::StrCat(service.instances(), " ", service.name(),
                                 " in tier ", service.tier()));
  }
  return texts;
}

std::vector<std::string> Edges(const Report::Topology& topology) {
  std::vector<std::string> texts;
  for (const Report::Edge& edge : topology.edges()) {
    texts.push_back(absl::StrCat(edge.rpc(), ": ", edge.client(), " to ",
                                 edge.server(),
                                 edge.is_entry() ? ", entry" : ""));
  }
  return texts;
}

// A test in which each of these services calls its servers.
TestResult Calling(
    const std::vector<std::pair<std::string, std::string>>& calls) {
  TestResult result;
  for (const auto& [client, server] : calls) {
    RpcSpec& rpc = *result.mutable_traffic_config()->add_rpc_descriptions();
    rpc.set_name(absl::StrCat(client, server));
    rpc.add_client(client);
    rpc.set_server(server);
  }
  return result;
}

// RPCs of the first kind, in a second.
void Record(const std::string& client, const std::string& server, int count,
            int64_t service_time_ns, TestResult& result) {
  results::RpcTotals totals;
  totals.service_time_ns.RecordN(service_time_ns, count);
  totals.counts.succeeded_count = count;
  totals.counts.first_start_timestamp_ns = 1;
  totals.counts.last_end_timestamp_ns = 1'000'000'001;
  ServicePerformanceLog& log =
      (*result.mutable_service_logs()->mutable_instance_logs())[client];
  totals.Encode(*(*(*log.mutable_peer_logs())[server].mutable_rpc_logs())[0]
                     .mutable_statistics());
}

Row InstanceRow(const Report::Topology& topology, const std::string& name) {
  for (const Row& row : topology.instances().rows()) {
    if (row.instance() == name) return row;
  }
  ADD_FAILURE() << "no instance " << name;
  return {};
}

TEST(TopologyTest, ServicesAreInTiers) {
  const Report::Topology topology = TopologyOf(ResultFromText(kThreeTiers));
  EXPECT_THAT(Services(topology),
              ElementsAre("3 leaf in tier 2", "4 root in tier 1",
                          "2 load in tier 0", "1 idle in tier 0"));
  EXPECT_THAT(Edges(topology),
              ElementsAre("fetch: root to leaf", "query: load to root, entry"));
}

TEST(TopologyTest, ExternalServicesHaveAddresses) {
  const Report::Topology topology = TopologyOf(ResultFromText(R"pb(
    traffic_config {
      services { name: "load" count: 2 }
      services {
        name: "cache"
        count: 1
        external { addresses: [ "a:1", "b:2" ] }
      }
      rpc_descriptions { name: "get" client: "load" server: "cache" }
    }
  )pb"));
  ASSERT_EQ(topology.services_size(), 2);
  EXPECT_THAT(topology.services(0).external_addresses(), ElementsAre());
  EXPECT_THAT(topology.services(1).external_addresses(),
              ElementsAre("a:1", "b:2"));
}

TEST(TopologyTest, TheLongestWayDeterminesTheTier) {
  EXPECT_THAT(
      Services(TopologyOf(Calling({{"a", "c"}, {"a", "b"}, {"b", "c"}}))),
      ElementsAre("0 a in tier 0", "0 c in tier 2", "0 b in tier 1"));
}

TEST(TopologyTest, CyclesAreCutWhereTheyLeadBackToTheStart) {
  EXPECT_THAT(
      Services(TopologyOf(Calling({{"a", "a"}, {"a", "b"}, {"b", "a"}}))),
      ElementsAre("0 a in tier 0", "0 b in tier 1"));
  TestResult result = Calling({{"a", "b"}, {"b", "c"}, {"c", "a"}});
  DistributedSystemDescription& config = *result.mutable_traffic_config();
  config.add_services()->set_name("b");
  ActionList& main = *config.add_action_lists();
  main.set_name("b");
  main.add_action_names("send");
  Action& action = *config.add_actions();
  action.set_name("send");
  action.set_rpc_name("bc");
  EXPECT_THAT(Services(TopologyOf(result)),
              ElementsAre("1 b in tier 0", "0 a in tier 2", "0 c in tier 1"));
}

TEST(TopologyTest, PercentilesAreThoseOfAllRpcsTogether) {
  TestResult result = Calling({{"a", "b"}});
  Record("a/0", "b/0", 990, 1000, result);
  Record("a/1", "b/1", 110, 5'000'000, result);
  const Report::Topology topology = TopologyOf(result);
  EXPECT_THAT(Services(topology),
              ElementsAre("2 a in tier 0", "2 b in tier 1"));
  ASSERT_EQ(topology.edges_size(), 1);
  const Report::Traffic& traffic = topology.edges(0).traffic();
  EXPECT_EQ(traffic.succeeded(), 1100);
  EXPECT_EQ(traffic.latency(), "service");
  EXPECT_NEAR(traffic.times().p50_ns(), 1000, 10);
  EXPECT_NEAR(traffic.times().p99_ns(), 5e6, 5e4);
  ASSERT_EQ(topology.instances().rows_size(), 4);
  const Row server = InstanceRow(topology, "b/1");
  EXPECT_EQ(server.role(), "server");
  EXPECT_EQ(server.service(), "b");
  EXPECT_NEAR(server.traffic().times().p50_ns(), 5e6, 5e4);
}

TEST(TopologyTest, TheWorstInstancesAreThoseThatAreKept) {
  TestResult result = Calling({{"a", "b"}});
  Record("a/0", "b/0", 1000, 1000, result);
  Record("a/1", "b/1", 1000, 5'000'000, result);
  const Report::InstanceTable kept = DeriveTopology(result, 2).instances();
  EXPECT_EQ(kept.rows_left_out(), 2);
  ASSERT_EQ(kept.rows_size(), 2);
  EXPECT_EQ(kept.rows(0).instance(), "a/1");
  EXPECT_EQ(kept.rows(1).instance(), "b/1");
}

TEST(TopologyTest, EntriesAreWhatMainListsSendOrElseAll) {
  TestResult result = ResultFromText(kThreeTiers);
  Record("root/0/0", "leaf/0", 7, 1000, result);  // of "fetch"
  EXPECT_THAT(EntryTrafficOf(result).clients, ElementsAre("load"));
  EXPECT_EQ(EntryTrafficOf(result).rpc_count, 0);
  result.mutable_traffic_config()->clear_action_lists();
  EXPECT_THAT(EntryTrafficOf(result).clients, ElementsAre());
  EXPECT_EQ(EntryTrafficOf(result).rpc_count, 7);
}

TEST(TopologyTest, UnsentRpcsAreFailuresOfTheResponseTime) {
  TestResult result = Calling({{"a", "b"}});
  Record("a/0", "b/0", 90, 1000, result);
  OfferedLoad& load =
      (*(*result.mutable_service_logs()->mutable_instance_logs())["a/0"]
            .mutable_offered_loads())[0];
  load.set_offered_count(100);
  load.set_unsent_count(10);
  const Report::Topology topology = TopologyOf(result);
  const Report::Traffic& edge = topology.edges(0).traffic();
  EXPECT_EQ(edge.offered_per_second(), 100);
  EXPECT_EQ(edge.latency(), "response");
  EXPECT_EQ(edge.latency_failed(), 10);
  EXPECT_EQ(InstanceRow(topology, "a/0").traffic().latency_failed(), 10);
  // A server knows nothing of RPCs that were never sent.
  const Row server = InstanceRow(topology, "b/0");
  EXPECT_FALSE(server.traffic().has_offered_per_second());
  EXPECT_EQ(server.traffic().latency_failed(), 0);
}

// Of an overload, the last request ends long after the last one was due.
TEST(TopologyTest, OfferedLoadsArePerSecondInWhichRequestsWereDue) {
  TestResult result = Calling({{"a", "b"}});
  Record("a/0", "b/0", 100, 1000, result);
  Record("a/1", "b/0", 100, 1000, result);
  for (auto& [client, log] :
       *result.mutable_service_logs()->mutable_instance_logs()) {
    (*log.mutable_offered_loads())[0].set_offered_count(100);
    log.mutable_peer_logs()
        ->at("b/0")
        .mutable_rpc_logs()
        ->at(0)
        .mutable_statistics()
        ->set_last_end_timestamp_ns(10'000'000'000);
    RpcTimeSeries& series = (*log.mutable_rpc_time_series())[0];
    series.set_interval_ns(1'000'000'000);
    RpcInterval& interval = *series.add_intervals();
    interval.set_index(0);
    interval.set_offered_count(100);
  }
  const Report::Topology topology = TopologyOf(result);
  EXPECT_NEAR(topology.edges(0).traffic().offered_per_second(), 200, 1e-6);
  EXPECT_NEAR(topology.edges(0).traffic().succeeded_per_second(), 20, 0.01);
  EXPECT_NEAR(InstanceRow(topology, "a/1").traffic().offered_per_second(), 100,
              1e-6);
}

TEST(TopologyTest, PairsWithoutHistogramsArePooledByClient) {
  TestResult result = Calling({{"a", "b"}});
  Record("a/0", "b/0", 100, 1000, result);
  ServicePerformanceLog& log =
      result.mutable_service_logs()->mutable_instance_logs()->at("a/0");
  RpcStatistics& pair = *log.mutable_peer_logs()
                             ->at("b/0")
                             .mutable_rpc_logs()
                             ->at(0)
                             .mutable_statistics();
  results::RpcTotals totals;
  ASSERT_TRUE(totals.Add(pair).ok());
  results::RpcTotals pooled;
  pooled.MergeHistograms(totals);
  pooled.Encode((*log.mutable_pooled_statistics())[0]);
  totals.DropHistograms();
  totals.Encode(pair);
  const Report::Topology topology = TopologyOf(result);
  EXPECT_NEAR(topology.edges(0).traffic().times().p50_ns(), 1000, 10);
  EXPECT_EQ(topology.edges(0).traffic().succeeded(), 100);
  EXPECT_TRUE(InstanceRow(topology, "a/0").traffic().has_latency());
  EXPECT_FALSE(InstanceRow(topology, "b/0").traffic().has_latency());
  EXPECT_EQ(InstanceRow(topology, "b/0").traffic().succeeded(), 100);
}

TEST(TopologyTest, AResultWithoutConfigHasWhatWasMeasured) {
  TestResult result;
  Record("a/0", "b/0", 5, 1000, result);
  Record("a/0", "b/1", 5, 1000, result);
  const Report::Topology topology = TopologyOf(result);
  EXPECT_THAT(Services(topology),
              ElementsAre("1 a in tier 0", "2 b in tier 1"));
  EXPECT_THAT(Edges(topology), ElementsAre("rpc[0]: a to b"));
}

}  // namespace
}  // namespace distbench::report
