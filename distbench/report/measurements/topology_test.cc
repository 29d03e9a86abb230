#include "distbench/report/measurements/topology.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/report/testing/report_testing.h"
#include "distbench/results/rpc_totals.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::ElementsAre;

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

std::vector<std::string> Services(const Topology& topology) {
  std::vector<std::string> texts;
  for (const TopologyService& service : topology.services) {
    texts.push_back(absl::StrCat(service.instance_count, " ", service.name,
                                 " in tier ", service.tier));
  }
  return texts;
}

std::vector<std::string> Edges(const Topology& topology) {
  std::vector<std::string> texts;
  for (const TopologyEdge& edge : topology.edges) {
    texts.push_back(absl::StrCat(edge.rpc, ": ", edge.client, " to ",
                                 edge.server, edge.is_entry ? ", entry" : ""));
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

const TopologyInstance& Instance(const Topology& topology,
                                 const std::string& name) {
  for (const TopologyInstance& instance : topology.instances) {
    if (instance.instance == name) return instance;
  }
  static const TopologyInstance none;
  ADD_FAILURE() << "no instance " << name;
  return none;
}

TEST(TopologyTest, ServicesAreInTiers) {
  const Topology topology = FindTopology(ResultFromText(kThreeTiers));
  EXPECT_THAT(Services(topology),
              ElementsAre("3 leaf in tier 2", "4 root in tier 1",
                          "2 load in tier 0", "1 idle in tier 0"));
  EXPECT_THAT(Edges(topology),
              ElementsAre("fetch: root to leaf", "query: load to root, entry"));
}

TEST(TopologyTest, ExternalServicesHaveAddresses) {
  const Topology topology = FindTopology(ResultFromText(R"pb(
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
  ASSERT_EQ(topology.services.size(), 2);
  EXPECT_THAT(topology.services[0].external_addresses, ElementsAre());
  EXPECT_THAT(topology.services[1].external_addresses,
              ElementsAre("a:1", "b:2"));
}

TEST(TopologyTest, TheLongestWayDeterminesTheTier) {
  EXPECT_THAT(
      Services(FindTopology(Calling({{"a", "c"}, {"a", "b"}, {"b", "c"}}))),
      ElementsAre("0 a in tier 0", "0 c in tier 2", "0 b in tier 1"));
}

TEST(TopologyTest, CyclesAreCutWhereTheyLeadBackToTheStart) {
  EXPECT_THAT(
      Services(FindTopology(Calling({{"a", "a"}, {"a", "b"}, {"b", "a"}}))),
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
  EXPECT_THAT(Services(FindTopology(result)),
              ElementsAre("1 b in tier 0", "0 a in tier 2", "0 c in tier 1"));
}

TEST(TopologyTest, PercentilesAreThoseOfAllRpcsTogether) {
  TestResult result = Calling({{"a", "b"}});
  Record("a/0", "b/0", 990, 1000, result);
  Record("a/1", "b/1", 110, 5'000'000, result);
  const Topology topology = FindTopology(result);
  EXPECT_THAT(Services(topology),
              ElementsAre("2 a in tier 0", "2 b in tier 1"));
  ASSERT_EQ(topology.edges.size(), 1);
  const RpcTraffic& traffic = topology.edges[0].traffic;
  EXPECT_EQ(traffic.counts.succeeded_count, 1100);
  ASSERT_EQ(traffic.latency(), &traffic.service_time);
  EXPECT_NEAR(traffic.latency()->ValueAtQuantile(0.5), 1000, 10);
  EXPECT_NEAR(traffic.latency()->ValueAtQuantile(0.95), 5e6, 5e4);
  ASSERT_EQ(topology.instances.size(), 4);
  EXPECT_TRUE(Instance(topology, "b/1").is_server);
  EXPECT_EQ(Instance(topology, "b/1").service, "b");
  EXPECT_NEAR(Instance(topology, "b/1").traffic.latency()->ValueAtQuantile(0.5),
              5e6, 5e4);
}

TEST(TopologyTest, UnsentRpcsAreFailuresOfTheResponseTime) {
  TestResult result = Calling({{"a", "b"}});
  Record("a/0", "b/0", 90, 1000, result);
  OfferedLoad& load =
      (*(*result.mutable_service_logs()->mutable_instance_logs())["a/0"]
            .mutable_offered_loads())[0];
  load.set_offered_count(100);
  load.set_unsent_count(10);
  const Topology topology = FindTopology(result);
  const RpcTraffic& edge = topology.edges[0].traffic;
  EXPECT_EQ(edge.offered->offered_count(), 100);
  ASSERT_EQ(edge.latency(), &edge.response_time);
  EXPECT_EQ(edge.latency()->failed_count, 10);
  EXPECT_EQ(Instance(topology, "a/0").traffic.latency()->failed_count, 10);
  // A server knows nothing of RPCs that were never sent.
  EXPECT_FALSE(Instance(topology, "b/0").traffic.offered.has_value());
  EXPECT_EQ(Instance(topology, "b/0").traffic.latency()->failed_count, 0);
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
  const Topology topology = FindTopology(result);
  EXPECT_NEAR(topology.edges[0].traffic.latency()->ValueAtQuantile(0.5), 1000,
              10);
  EXPECT_EQ(topology.edges[0].traffic.counts.succeeded_count, 100);
  EXPECT_NE(Instance(topology, "a/0").traffic.latency(), nullptr);
  EXPECT_EQ(Instance(topology, "b/0").traffic.latency(), nullptr);
  EXPECT_EQ(Instance(topology, "b/0").traffic.counts.succeeded_count, 100);
}

TEST(TopologyTest, AResultWithoutConfigHasWhatWasMeasured) {
  TestResult result;
  Record("a/0", "b/0", 5, 1000, result);
  Record("a/0", "b/1", 5, 1000, result);
  const Topology topology = FindTopology(result);
  EXPECT_THAT(Services(topology),
              ElementsAre("1 a in tier 0", "2 b in tier 1"));
  EXPECT_THAT(Edges(topology), ElementsAre("rpc[0]: a to b"));
}

}  // namespace
}  // namespace distbench::report
