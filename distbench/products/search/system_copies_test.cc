// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/system_copies.h"

#include <string>
#include <vector>

#include "distbench/config/reading/load.h"
#include "distbench/config/validate/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::search {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

DistributedSystemDescription System() {
  const auto sequence = config::ParseTestSequence(
      R"(tests {
           services {
             name: "client" count: 1
           }
           services { name: "server" count: 2 }
           node_service_bundles {
             key: "node0" value { services: "client/0" services: "server/0" }
           }
           service_constraints {
             key: "server/*"
             value { constraint_sets { constraints {
               attribute_name: "node_alias" string_values: "node0"
               relation: EQUAL } } }
           }
           payload_descriptions { name: "p" size: 64 }
           rpc_descriptions {
             name: "query" client: "client" server: "server"
             request_payload_name: "p"
           }
           rpc_descriptions { name: "talk" client: "server" server: "server" }
           rpc_replay_traces {
             name: "trace" client: "client" server: "server"
             records { timing_ns: 5 timing_mode: RELATIVE_TO_TRACE_START }
           }
           action_lists { name: "client" action_names: ["run", "again"] }
           action_lists { name: "query" action_names: "chat" }
           action_lists { name: "talk" }
           action_lists { name: "sub" action_names: "chat" }
           actions { name: "run" rpc_name: "query" }
           actions {
             name: "again" dependencies: "run" rpc_replay_trace_name: "trace"
           }
           actions { name: "chat" rpc_name: "talk" }
         })",
      "system");
  EXPECT_TRUE(sequence.ok()) << sequence.status();
  const auto checked = config::CheckTestSequence(*sequence);
  EXPECT_TRUE(checked.ok()) << checked.status();
  return checked->tests(0);
}

TEST(ReplicateSystemTest, OneIsTheSystemItself) {
  EXPECT_EQ(ReplicateSystem(System(), 1).SerializeAsString(),
            System().SerializeAsString());
}

TEST(ReplicateSystemTest, CopiesAreATestThatMayRun) {
  TestSequence sequence;
  *sequence.add_tests() = ReplicateSystem(System(), 3);
  const auto checked = config::CheckTestSequence(sequence);
  ASSERT_TRUE(checked.ok()) << checked.status();
  const DistributedSystemDescription& test = checked->tests(0);
  EXPECT_EQ(test.services_size(), 6);
  EXPECT_EQ(test.services(2).name(), "2.client");
  EXPECT_EQ(test.payload_descriptions_size(), 1);
  const RpcSpec& query = test.rpc_descriptions(2);
  EXPECT_EQ(query.name(), "2.query");
  EXPECT_EQ(query.server(), "2.server");
  EXPECT_THAT(query.client(), ElementsAre("2.client"));
  EXPECT_EQ(query.request_payload_name(), "p");
  EXPECT_THAT(test.node_service_bundles().at("node0").services(),
              UnorderedElementsAre("1.client/0", "1.server/0", "2.client/0",
                                   "2.server/0", "3.client/0", "3.server/0"));
  EXPECT_TRUE(test.service_constraints().contains("3.server/*"));
}

// Groups of everything else are of no copy.
TEST(ReplicateSystemTest, EachCopyHasItsOwnGroups) {
  DistributedSystemDescription system = System();
  system.mutable_controls()->set_name("c");
  system.mutable_controls()->add_groups()->add_services("ser*");
  system.mutable_controls()->add_groups()->set_everything_else(true);
  system.mutable_experiment()->set_repeat(2);
  const DistributedSystemDescription copies = ReplicateSystem(system, 2);
  EXPECT_FALSE(copies.has_experiment());
  const ControlSet& controls = copies.controls();
  EXPECT_EQ(controls.name(), "c");
  ASSERT_EQ(controls.groups_size(), 3);
  EXPECT_THAT(controls.groups(0).services(), ElementsAre("1.ser*"));
  EXPECT_THAT(controls.groups(1).services(), ElementsAre("2.ser*"));
  EXPECT_TRUE(controls.groups(2).everything_else());
  EXPECT_FALSE(ReplicateSystem(System(), 2).has_controls());
}

// All copies of System(). Each client has sent 10 times its copy's number of
// queries.
TestResult ResultOfCopies(int count) {
  TestResult result;
  *result.mutable_traffic_config() = ReplicateSystem(System(), count);
  for (int copy = 1; copy <= count; ++copy) {
    const std::string client = std::to_string(copy) + ".client/0";
    (*result.mutable_placement()->mutable_service_endpoints())[client]
        .set_node_alias("node" + std::to_string(copy));
    ServicePerformanceLog& log =
        (*result.mutable_service_logs()->mutable_instance_logs())[client];
    const int query = 2 * (copy - 1);
    const int trace = 2 * count + copy - 1;
    auto& rpcs = *(*log.mutable_peer_logs())["s"].mutable_rpc_logs();
    rpcs[query].mutable_statistics()->set_succeeded_count(10 * copy);
    rpcs[trace].mutable_statistics()->set_succeeded_count(1);
    (*log.mutable_offered_loads())[query].set_offered_count(11 * copy);
  }
  return result;
}

int64_t CountOf(const TestResult& result, int rpc) {
  int64_t count = 0;
  for (const auto& [name, log] : result.service_logs().instance_logs()) {
    for (const auto& [peer, peer_log] : log.peer_logs()) {
      const auto found = peer_log.rpc_logs().find(rpc);
      if (found == peer_log.rpc_logs().end()) continue;
      count += found->second.statistics().succeeded_count();
    }
  }
  return count;
}

TEST(ResultOfCopyTest, BringsRpcsBackToTheirOwnIndex) {
  const TestResult result = ResultOfCopies(3);
  const TestResult all = ResultOfCopy(result, System(), 3, 0);
  EXPECT_EQ(CountOf(all, 0), 60);
  EXPECT_EQ(CountOf(all, 1), 0);
  EXPECT_EQ(CountOf(all, 2), 3);  // the trace
  EXPECT_EQ(all.traffic_config().rpc_descriptions(0).name(), "query");

  const TestResult second = ResultOfCopy(result, System(), 3, 2);
  EXPECT_EQ(CountOf(second, 0), 20);
  EXPECT_EQ(second.service_logs()
                .instance_logs()
                .at("2.client/0")
                .offered_loads()
                .at(0)
                .offered_count(),
            22);
}

TEST(ReplicateSystemTest, EachCopyHasItsFaults) {
  DistributedSystemDescription system = System();
  ServerFault& fault = *system.add_server_faults();
  fault.set_name("pause");
  fault.set_service(system.services(0).name());
  fault.set_freeze(true);
  const DistributedSystemDescription all = ReplicateSystem(system, 2);
  ASSERT_EQ(all.server_faults_size(), 2);
  EXPECT_EQ(all.server_faults(1).name(), "2.pause");
  EXPECT_EQ(all.server_faults(1).service(),
            all.services(system.services_size()).name());
  EXPECT_FALSE(all.server_faults(1).has_rpc_name());

  TestResult result;
  (*(*result.mutable_service_logs()->mutable_instance_logs())["2.a/0"]
        .mutable_fault_logs())["2.pause"]
      .set_request_count(3);
  const TestResult second = ResultOfCopy(result, system, 2, 2);
  EXPECT_EQ(second.service_logs()
                .instance_logs()
                .at("2.a/0")
                .fault_logs()
                .at("pause")
                .request_count(),
            3);
}

TEST(FailureOfCopyTest, NamesWhoWasLostOrStopped) {
  TestResult result = ResultOfCopies(3);
  EXPECT_EQ(FailureOfCopy(result, 1), "");
  auto& logs = *result.mutable_service_logs()->mutable_instance_logs();
  logs["2.client/0"].set_engine_error_message("too many threads");
  logs.erase("3.client/0");
  EXPECT_EQ(FailureOfCopy(result, 1), "");
  EXPECT_THAT(FailureOfCopy(result, 2), HasSubstr("too many threads"));
  // Stopped together with all others.
  result.mutable_run_info()->set_failure("node3 was lost");
  logs["1.client/0"].set_engine_error_message("node3 was lost");
  EXPECT_EQ(FailureOfCopy(result, 1), "");
  EXPECT_EQ(FailureOfCopy(result, 3),
            "nothing was heard of 3.client/0 on node3");
}

HostTopology Topology(const std::string& allowed,
                      const std::vector<std::string>& siblings = {}) {
  HostTopology topology;
  topology.set_allowed_cpus(allowed);
  for (const std::string& cpus : siblings) topology.add_smt_siblings(cpus);
  return topology;
}

TEST(SliceCpusTest, SlicesAreContiguousCores) {
  EXPECT_THAT(*SliceCpus(Topology("0-7"), 2), ElementsAre("0-3", "4-7"));
  EXPECT_THAT(*SliceCpus(Topology("0-6"), 3), ElementsAre("0-1", "2-3", "4-6"));
  EXPECT_THAT(*SliceCpus(Topology("2,5-6"), 1), ElementsAre("2,5-6"));
}

// As most x86 hosts number them: the second CPU of core 0 is 4.
TEST(SliceCpusTest, SiblingsStayTogether) {
  EXPECT_THAT(*SliceCpus(Topology("0-7", {"0,4", "1,5", "2,6", "3,7"}), 2),
              ElementsAre("0-1,4-5", "2-3,6-7"));
}

// Neighbouring numbers, as on other hosts; a core of which one CPU may be used.
TEST(SliceCpusTest, OnlyAllowedCpusAreUsed) {
  EXPECT_THAT(*SliceCpus(Topology("1-5", {"0-1", "2-3", "4-5"}), 3),
              ElementsAre("1", "2-3", "4-5"));
}

TEST(SliceCpusTest, ACoreCannotBeDivided) {
  EXPECT_THAT(SliceCpus(Topology("0-1", {"0-1"}), 2).status().message(),
              HasSubstr("the host has 1 cores for 2 instances"));
}

void AddNode(const std::string& host, const std::string& allowed,
             GetStatusResponse& status) {
  NodeRegistration& node = *status.add_nodes()->mutable_registration();
  node.set_hostname(host);
  *node.mutable_topology() = Topology(allowed);
}

TEST(SliceHostTest, UsesWhatAllNodesMay) {
  GetStatusResponse status;
  AddNode("a", "0-7", status);
  AddNode("a", "2-9", status);
  EXPECT_THAT(*SliceHost(status, 2), ElementsAre("2-4", "5-7"));
}

TEST(SliceHostTest, NeedsOneHost) {
  GetStatusResponse status;
  EXPECT_FALSE(SliceHost(status, 1).ok());
  AddNode("a", "0-7", status);
  EXPECT_TRUE(IsOneHost(status));
  status.mutable_nodes(0)->mutable_registration()->set_boot_id("1");
  AddNode("a", "0-7", status);
  EXPECT_TRUE(IsOneHost(status));
  status.mutable_nodes(1)->mutable_registration()->set_boot_id("2");
  EXPECT_FALSE(IsOneHost(status));
  EXPECT_THAT(SliceHost(status, 1).status().message(),
              HasSubstr("all nodes are on one host"));
}

DistributedSystemDescription TwoServices() {
  DistributedSystemDescription test;
  test.add_services()->set_name("client");
  test.add_services()->set_name("server");
  return test;
}

TEST(BindCopiesTest, AllServicesOfACopyShareItsSlice) {
  DistributedSystemDescription test = ReplicateSystem(TwoServices(), 2);
  ASSERT_TRUE(BindCopies({"0-3", "4-7"}, test).ok());
  for (const ServiceSpec& service : test.services()) {
    EXPECT_EQ(service.numa_binding().cpus(),
              service.name()[0] == '1' ? "0-3" : "4-7")
        << service.name();
  }
}

TEST(BindCopiesTest, ASingleCopyHasItsOwnNames) {
  DistributedSystemDescription test = TwoServices();
  ASSERT_TRUE(BindCopies({"0-3"}, test).ok());
  EXPECT_EQ(test.services(1).numa_binding().cpus(), "0-3");
}

TEST(BindCopiesTest, OwnBindingsAreNotOverruled) {
  DistributedSystemDescription test = TwoServices();
  test.mutable_services(1)->mutable_numa_binding()->set_nodes("0");
  EXPECT_THAT(BindCopies({"0-3"}, test).message(),
              HasSubstr("services[\"server\"].numa_binding"));
}

}  // namespace
}  // namespace distbench::search
