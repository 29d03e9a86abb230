#include "distbench/products/simulation/model/cluster_model.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

SimulatedFabric FabricOf(const std::string& text) {
  SimulatedFabric fabric;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &fabric));
  return fabric;
}

ClusterModel ModelOf(const std::string& text, int host_count,
                     uint64_t seed = 1) {
  auto model = MakeClusterModel(FabricOf(text), host_count, seed);
  EXPECT_EQ(model.status(), absl::OkStatus());
  return model.ok() ? *std::move(model) : ClusterModel();
}

std::string ModelError(const std::string& text, int host_count = 4) {
  return base::Message(
      MakeClusterModel(FabricOf(text), host_count, 1).status());
}

// The nodes that a path passes, which must be one.
std::vector<int> NodesOf(const ClusterModel& model, int from, int to,
                         uint64_t connection) {
  std::vector<int> links;
  model.paths->Find(from, to, connection, links);
  std::vector<int> nodes = {from};
  for (const int link : links) {
    EXPECT_EQ(model.links[link].from, nodes.back());
    nodes.push_back(model.links[link].to);
  }
  EXPECT_EQ(nodes.back(), to);
  return nodes;
}

TEST(ClusterModelTest, FillsInDefaults) {
  const ClusterModel model = ModelOf("host { cpus: 2 }", 3);
  EXPECT_EQ(model.fabric.host().cpus(), 2);
  EXPECT_TRUE(model.fabric.host().has_scheduler());
  EXPECT_TRUE(model.fabric.host().has_stalls_per_second());
  EXPECT_EQ(model.fabric.single_switch().host_link().gbps(), 25);
  EXPECT_TRUE(model.fabric.single_switch().host_link().has_gbps());
  EXPECT_THAT(model.host_names, ElementsAre("host0", "host1", "host2"));
  EXPECT_THAT(model.slowness, ElementsAre(1, 1, 1));
  EXPECT_EQ(model.min_delay_ns, 1000);
}

TEST(ClusterModelTest, ASwitchConnectsItsHosts) {
  const ClusterModel model =
      ModelOf("single_switch { host_link { gbps: 8 delay_ns: 70 } }", 3);
  EXPECT_EQ(model.switch_count, 1);
  EXPECT_THAT(NodesOf(model, 2, 0, 5), ElementsAre(2, 3, 0));
  ASSERT_EQ(model.links.size(), 6);
  for (const LinkModel& link : model.links) {
    EXPECT_EQ(link.bytes_per_ns, 1);
    EXPECT_EQ(link.delay_ns, 70);
  }
  EXPECT_THAT(model.switch_of_host, ElementsAre(3, 3, 3));
}

// 20 hosts are 3 leaves, of which the last has few: switches 20 to 22, and
// spines 23 to 26.
ClusterModel LeafSpineModel() {
  return ModelOf(
      "leaf_spine { hosts_per_leaf: 8 spines: 4 spine_link { delay_ns: 5 } }",
      20);
}

TEST(ClusterModelTest, LeavesMeetInSpines) {
  const ClusterModel model = LeafSpineModel();
  EXPECT_EQ(model.switch_count, 3 + 4);
  EXPECT_EQ(model.links.size(), 2 * 20 + 2 * 3 * 4);
  EXPECT_EQ(model.min_delay_ns, 5);
  EXPECT_THAT(NodesOf(model, 0, 7, 1), ElementsAre(0, 20, 7));
  const std::vector<int> nodes = NodesOf(model, 0, 19, 1);
  ASSERT_EQ(nodes.size(), 5);
  EXPECT_EQ(nodes[1], 20);
  EXPECT_GE(nodes[2], 23);
  EXPECT_EQ(nodes[3], 22);
}

// How often each node is in the middle of the paths of many connections.
std::map<int, int> MiddleCounts(const ClusterModel& model, int from, int to,
                                int connections) {
  std::map<int, int> counts;
  for (int i = 0; i < connections; ++i) {
    const std::vector<int> nodes = NodesOf(model, from, to, i);
    ++counts[nodes[nodes.size() / 2]];
  }
  return counts;
}

// Of n connections over k spines, each spine has n / k with a standard
// deviation of sqrt(n / k).
TEST(ClusterModelTest, ConnectionsSpreadEvenlyOverSpines) {
  const ClusterModel model = LeafSpineModel();
  const std::map<int, int> counts = MiddleCounts(model, 3, 12, 40'000);
  EXPECT_EQ(counts.size(), 4);
  for (const auto& [spine, count] : counts) EXPECT_NEAR(count, 10'000, 400);
}

TEST(ClusterModelTest, AConnectionKeepsItsPathAndItsReverseMayDiffer) {
  const ClusterModel model = LeafSpineModel();
  int differing = 0;
  for (int connection = 0; connection < 400; ++connection) {
    const std::vector<int> there = NodesOf(model, 1, 9, connection);
    EXPECT_EQ(NodesOf(model, 1, 9, connection), there);
    differing += NodesOf(model, 9, 1, connection)[2] != there[2];
  }
  EXPECT_NEAR(differing, 300, 50);  // three of four spines
}

// As real runs do, whose ports are others each time.
TEST(ClusterModelTest, EachSeedGivesConnectionsOtherPaths) {
  for (const std::string& fabric :
       {"leaf_spine { hosts_per_leaf: 8 spines: 4 }",
        "graph { switches { name: 's' hosts: 'n[0-9]' } switches { name: 'x' }"
        "        switches { name: 'y' } switches { name: 'z' }"
        "        switches { name: 't' hosts: 'n[10-19]' }"
        "        links { from: 's' to: 'x' } links { from: 'x' to: 't' }"
        "        links { from: 's' to: 'y' } links { from: 'y' to: 't' }"
        "        links { from: 's' to: 'z' } links { from: 'z' to: 't' }"
        "}"}) {
    const ClusterModel model = ModelOf(fabric, 20, /*seed=*/1);
    const ClusterModel same = ModelOf(fabric, 20, /*seed=*/1);
    const ClusterModel other = ModelOf(fabric, 20, /*seed=*/2);
    int differing = 0;
    for (int connection = 0; connection < 400; ++connection) {
      const std::vector<int> nodes = NodesOf(model, 1, 19, connection);
      EXPECT_EQ(NodesOf(same, 1, 19, connection), nodes);
      differing += NodesOf(other, 1, 19, connection) != nodes;
    }
    EXPECT_GT(differing, 200) << fabric;
  }
}

TEST(ClusterModelTest, SlowHostsAreExactlyAsManyAndDependOnTheSeed) {
  const std::string fabric = "host { slow_share: 0.015 slowness: 3 }";
  const ClusterModel model = ModelOf(fabric, 1000);
  EXPECT_EQ(std::count(model.slowness.begin(), model.slowness.end(), 3), 15);
  EXPECT_EQ(std::count(model.slowness.begin(), model.slowness.end(), 1), 985);
  EXPECT_EQ(ModelOf(fabric, 1000).slowness, model.slowness);
  EXPECT_NE(ModelOf(fabric, 1000, /*seed=*/2).slowness, model.slowness);
  EXPECT_THAT(ModelOf("host { slow_share: 1 slowness: 2 }", 2).slowness,
              ElementsAre(2, 2));
}

TEST(ClusterModelTest, EveryHostCanBeSlow) {
  std::set<size_t> slow;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector<double> slowness =
        ModelOf("host { slow_share: 0.1 slowness: 2 }", 10, seed).slowness;
    slow.insert(std::max_element(slowness.begin(), slowness.end()) -
                slowness.begin());
  }
  EXPECT_EQ(slow.size(), 10);
}

TEST(ClusterModelTest, SaysAllThatIsWrong) {
  EXPECT_THAT(
      ModelError("host { cpus: 0 slow_share: 1.5 slowness: nan }"
                 "leaf_spine { spines: 0 host_link { gbps: -1 delay_ns: 0 } }"
                 "stacks { driver: 'grcp' client_send { fixed_ns: inf } }"
                 "stacks { driver: 'thrift' server_send { batch_ns: -3 } }"
                 "stacks { driver: 'tcp' wakeup_cpu_ns: nan }"
                 "stacks { driver: 'tcp' sigma: -1 }"
                 "activities { activity: 'ConsumeCPU' cpu_ns: 1 }"
                 "activities { activity: 'Wait' cpu_ns: 1 }"
                 "activities { activity: 'ConsumeCpu' }"),
      AllOf(HasSubstr("host.cpus: "), HasSubstr("host.slow_share: is 1.5"),
            HasSubstr("host.slowness: is nan"),
            HasSubstr("leaf_spine.spines: "),
            HasSubstr("leaf_spine.host_link.gbps: is -1; must be between"),
            HasSubstr("leaf_spine.host_link.delay_ns: "),
            AllOf(HasSubstr("stacks[0].driver: \"grcp\" is not a driver; did "
                            "you mean \"grpc\"?"),
                  HasSubstr("stacks[0].client_send.fixed_ns: is inf"),
                  HasSubstr("stacks[1].server_send.batch_ns: is -3"),
                  HasSubstr("stacks[2].wakeup_cpu_ns: is nan"),
                  HasSubstr("stacks[3].driver: \"tcp\" has costs already"),
                  HasSubstr("stacks[3].sigma: is -1"),
                  HasSubstr("activities[0].activity: \"ConsumeCPU\" is not an "
                            "activity; did you mean \"ConsumeCpu\"?"),
                  HasSubstr("activities[1].activity: \"Wait\" only waits"),
                  HasSubstr("activities[2].cpu_ns: is missing"))));
  EXPECT_THAT(ModelError("", 0), HasSubstr("host_count: "));
  EXPECT_THAT(
      ModelError("host { stalls_per_second: 100 mean_stall_ns: 20000000 }"),
      HasSubstr("host.mean_stall_ns: with stalls_per_second, stalls take 2"));
}

TEST(ClusterModelTest, SlowHostsNeedTheirSlowness) {
  EXPECT_THAT(ModelError("host { slow_share: 0.1 }"),
              HasSubstr("host.slowness: is missing"));
  EXPECT_THAT(ModelError("host { slow_share: 0 }"), IsEmpty());
  EXPECT_THAT(ModelError("host { slow_share: 0.1 slowness: 1 }"), IsEmpty());
}

TEST(ClusterModelTest, RatesThatOverflowTimeAreRefused) {
  EXPECT_THAT(ModelError("single_switch { host_link { gbps: 1e-18 } }"),
              HasSubstr("single_switch.host_link.gbps: is 1e-18"));
  EXPECT_THAT(ModelError("single_switch { host_link { gbps: 1e-6 } }"),
              IsEmpty());
}

TEST(ClusterModelTest, ManyLeavesAndSpinesAreRefused) {
  EXPECT_THAT(
      ModelError("leaf_spine { hosts_per_leaf: 1 spines: 10000 }", 10'000),
      HasSubstr("raise hosts_per_leaf or lower spines"));
}

TEST(CostsOfDriverTest, EveryDriverThatSendsHasCosts) {
  for (const config::DriverDeclaration& driver : config::DriverCatalog()) {
    const bool can_be_built = driver.built_in || !driver.package.empty();
    if (!can_be_built || !driver.decorated_driver_setting.empty()) continue;
    const auto costs = CostsOfDriver({}, driver.name);
    ASSERT_EQ(costs.status(), absl::OkStatus()) << driver.name;
    EXPECT_GT(costs->server_receive().fixed_ns(), 0) << driver.name;
    EXPECT_FALSE(costs->source().empty()) << driver.name;
    SimulatedFabric fabric;
    *fabric.add_stacks() = *costs;
    EXPECT_EQ(MakeClusterModel(fabric, 1, 1).status(), absl::OkStatus());
  }
}

TEST(CostsOfDriverTest, AFabricReplacesTheReferenceMachine) {
  const SimulatedFabric fabric =
      FabricOf("stacks { driver: 'tcp' server_send { fixed_ns: 7 } }");
  const auto costs = CostsOfDriver(fabric, "tcp");
  ASSERT_TRUE(costs.ok());
  EXPECT_EQ(costs->server_send().fixed_ns(), 7);
  EXPECT_EQ(costs->client_send().fixed_ns(), 0);
  EXPECT_GT(CostsOfDriver(fabric, "grpc")->client_send().fixed_ns(), 0);
}

TEST(CostsOfDriverTest, UnknownCostsAreAnError) {
  const auto costs = CostsOfDriver({}, "mercury");
  EXPECT_EQ(costs.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(base::Message(costs.status()),
              AllOf(HasSubstr("\"mercury\""), HasSubstr("(stacks)"),
                    HasSubstr("\"loopback\"")));
}

TEST(CostsOfActivityTest, TheConfigsOwnEntryComesFirst) {
  const SimulatedFabric fabric = FabricOf(
      "activities { activity: 'ConsumeCpu' cpu_ns: 1 }"
      "activities { activity: 'ConsumeCpu' name: 'rank' cpu_ns: 2 }"
      "activities { activity: 'Compress' name: 'zip' cpu_ns: 3 }");
  EXPECT_EQ(CostsOfActivity(fabric, "ConsumeCpu", "rank")->cpu_ns(), 2);
  EXPECT_EQ(CostsOfActivity(fabric, "ConsumeCpu", "other")->cpu_ns(), 1);
  EXPECT_EQ(CostsOfActivity(fabric, "Compress", "zip")->cpu_ns(), 3);
  const auto unknown = CostsOfActivity(fabric, "Compress", "tar");
  EXPECT_EQ(unknown.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(
      base::Message(unknown.status()),
      AllOf(HasSubstr("activity_configs[\"tar\"]: "),
            HasSubstr("activities { activity: \"Compress\" name: \"tar\""),
            HasSubstr("distbench calibrate")));
}

}  // namespace
}  // namespace distbench::simulation
