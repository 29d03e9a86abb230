// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/numa_compare/numa_compare.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/validate/check.h"
#include "distbench/numa/testing/fake_host.h"
#include "distbench/numa/topology.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::numa_compare {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

DistributedSystemDescription OneTest(const std::string& fanout = "",
                                     const std::string& more = "") {
  TestSequence sequence;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      absl::StrCat(R"(tests {
        name: "t"
        services { name: "client" count: 2 }
        services { name: "server" count: 3 numa_binding { nodes: "0" } }
        workers_per_instance: 7
        rpc_descriptions {
          name: "query" client: "client" server: "server" )",
                   fanout.empty() ? "" : "fanout_filter: '" + fanout + "'",
                   R"( }
        action_lists { name: "client" action_names: "run" }
        action_lists { name: "query" }
        actions {
          name: "run" rpc_name: "query"
          iterations {
            open_loop_interval_ns: 1000000 max_duration_us: 1000000
          }
        })",
                   more, "}"),
      &sequence));
  config::Canonicalize(sequence);
  return sequence.tests(0);
}

HostTopology Host(const std::vector<numa::FakeNode>& nodes,
                  const std::string& cpus = "0-7") {
  numa::FakeHost host;
  host.AddNodes(nodes);
  host.Allow(cpus, "0-3");
  return numa::ReadHostTopology(host.root());
}

HostTopology TwoNodes() {
  return Host({{.id = 0, .cpus = "0-3", .distances = "10 21"},
               {.id = 1, .cpus = "4-7", .distances = "21 10"}});
}

NumaPlan Plan(const NumaOptions& options, const HostTopology& topology) {
  absl::StatusOr<NumaPlan> plan =
      PlanNumaComparison(OneTest(), options, topology);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *std::move(plan) : NumaPlan{};
}

std::vector<std::string> NamesOf(const NumaPlan& plan) {
  std::vector<std::string> names;
  for (const PlannedDeployment& deployment : plan.deployments) {
    names.push_back(deployment.description.name());
  }
  return names;
}

TEST(NumaDeploymentsTest, TwoNodes) {
  const NumaPlan plan = Plan({.generator_cpus = "3,7"}, TwoNodes());
  EXPECT_THAT(NamesOf(plan),
              ElementsAre("one_unbound", "unbound", "bound", "bound_remote"));
  EXPECT_THAT(plan.omissions, IsEmpty());
  const auto flags = [&](int i) { return plan.deployments[i].node_flags; };
  const std::vector<std::string> generator = {
      "--cpus=3,7", "--mem_policy=local", "--workers=1"};
  EXPECT_THAT(flags(0), ElementsAre(generator, ElementsAre("--cpus=0-2,4-6",
                                                           "--mem_policy=local",
                                                           "--workers=6")));
  const auto unbound =
      ElementsAre("--cpus=0-2,4-6", "--mem_policy=local", "--workers=3");
  EXPECT_THAT(flags(1), ElementsAre(generator, unbound, unbound));
  EXPECT_THAT(flags(2),
              ElementsAre(generator,
                          ElementsAre("--cpus=0-2", "--mem_policy=bind",
                                      "--mem_nodes=0", "--workers=3"),
                          ElementsAre("--cpus=4-6", "--mem_policy=bind",
                                      "--mem_nodes=1", "--workers=3")));
  EXPECT_THAT(flags(3),
              ElementsAre(generator,
                          ElementsAre("--cpus=0-2", "--mem_policy=bind",
                                      "--mem_nodes=1", "--workers=3"),
                          ElementsAre("--cpus=4-6", "--mem_policy=bind",
                                      "--mem_nodes=0", "--workers=3")));
}

TEST(NumaDeploymentsTest, TestsOfAllDeploymentsAreValidAndSendAlike) {
  const NumaPlan plan = Plan({}, TwoNodes());
  for (const PlannedDeployment& deployment : plan.deployments) {
    const DistributedSystemDescription& test = deployment.searches[0].test;
    TestSequence sequence;
    *sequence.add_tests() = test;
    EXPECT_THAT(config::Validate(sequence), IsEmpty());
    EXPECT_EQ(test.name(), "t@" + deployment.description.name());
    EXPECT_EQ(test.services(1).count(), deployment.description.instances());
    EXPECT_FALSE(test.services(1).has_numa_binding());
    EXPECT_FALSE(test.has_workers_per_instance());
    EXPECT_EQ(test.rpc_descriptions(0).fanout_filter(), "round_robin");
    EXPECT_THAT(test.node_service_bundles().at("node0").services(),
                ElementsAre("client/0", "client/1"));
    EXPECT_THAT(test.node_service_bundles().at("node1").services(),
                ElementsAre("server/0"));
    EXPECT_EQ(test.node_service_bundles_size(),
              1 + deployment.description.instances());
  }
}

// Adds an activity to a list, in a pool of eight.
void AddActivity(const std::string& name, const std::string& pool,
                 const std::string& list, DistributedSystemDescription& test) {
  ActivityPoolSpec& spec = *test.add_activity_pools();
  spec.set_name(pool);
  spec.set_size(8);
  ActivityConfig& activity = *test.add_activity_configs();
  activity.set_name(name);
  activity.set_pool_name(pool);
  NamedSetting& function = *activity.add_activity_settings();
  function.set_name("activity_func");
  function.set_string_value("ConsumeCpu");
  Action& action = *test.add_actions();
  action.set_name(name);
  action.set_activity_config_name(name);
  for (ActionList& each : *test.mutable_action_lists()) {
    if (each.name() == list) each.add_action_names(name);
  }
}

TEST(NumaDeploymentsTest, OnlyPoolsOfTheServiceAreDivided) {
  DistributedSystemDescription test = OneTest();
  AddActivity("serve", "servers", "query", test);
  AddActivity("prepare", "clients", "client", test);
  absl::StatusOr<NumaPlan> plan = PlanNumaComparison(test, {}, TwoNodes());
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_THAT(plan->deployments, SizeIs(4));
  for (const PlannedDeployment& deployment : plan->deployments) {
    const auto& pools = deployment.searches[0].test.activity_pools();
    EXPECT_EQ(pools[0].size(), 8 / deployment.description.instances());
    EXPECT_EQ(pools[1].size(), 8) << deployment.description.name();
  }

  // What is divided for the one would be for the other.
  test.mutable_activity_configs(1)->set_pool_name("servers");
  plan = PlanNumaComparison(test, {}, TwoNodes());
  EXPECT_THAT(std::string(plan.status().message()),
              HasSubstr("the activity pool servers of server would be divided "
                        "among its instances, but client uses it, too"));
}

TEST(NumaDeploymentsTest, GeneratorsGoToOtherNodes) {
  const NumaPlan plan =
      Plan({.numa_nodes = "0,2"},
           Host({{.id = 0, .cpus = "0-1", .distances = "10 12 30"},
                 {.id = 1, .cpus = "2-3", .distances = "12 10 30"},
                 {.id = 2, .cpus = "4-5", .distances = "30 30 10"}},
                "0-5"));
  EXPECT_THAT(plan.omissions, IsEmpty());
  EXPECT_EQ(plan.deployments[2].node_flags[0][0], "--cpus=2-3");
  EXPECT_EQ(plan.deployments[3].node_flags[1][2], "--mem_nodes=2");
}

TEST(NumaDeploymentsTest, RemoteMemoryIsThatOfTheFarthestNode) {
  const NumaPlan plan =
      Plan({}, Host({{.id = 0, .cpus = "0", .distances = "10 12 21 22"},
                     {.id = 1, .cpus = "1", .distances = "12 10 22 21"},
                     {.id = 2, .cpus = "2", .distances = "21 22 10 12"},
                     {.id = 3, .cpus = "3", .distances = "22 21 12 10"}},
                    "0-3"));
  std::vector<std::string> memory;
  for (int i = 1; i <= 4; ++i) {
    memory.push_back(plan.deployments[3].node_flags[i][2]);
  }
  EXPECT_THAT(memory, ElementsAre("--mem_nodes=3", "--mem_nodes=2",
                                  "--mem_nodes=1", "--mem_nodes=0"));
}

TEST(NumaDeploymentsTest, SeveralInstancesPerNode) {
  const NumaPlan plan = Plan({.instances = 4, .workers = 9}, TwoNodes());
  EXPECT_EQ(plan.deployments[0].description.workers_per_instance(), 8);
  EXPECT_EQ(plan.deployments[2].description.workers_per_instance(), 2);
  EXPECT_EQ(plan.deployments[2].node_flags[2][0], "--cpus=0-3");
  EXPECT_EQ(plan.deployments[2].node_flags[3][0], "--cpus=4-7");
  EXPECT_THAT(plan.omissions, Contains(HasSubstr("8 workers instead of 9")));
  EXPECT_THAT(plan.omissions, Contains(HasSubstr("No CPU is left")));
}

TEST(NumaDeploymentsTest, ASingleNodeIsSplit) {
  const NumaPlan plan =
      Plan({}, Host({{.id = 0, .cpus = "0-4", .distances = "10"}}, "0-4"));
  EXPECT_THAT(NamesOf(plan), ElementsAre("one_unbound", "unbound", "bound"));
  EXPECT_THAT(plan.omissions,
              Contains(HasSubstr("bound_remote, the control with far memory, "
                                 "was left out")));
  EXPECT_EQ(plan.deployments[2].node_flags[1][0], "--cpus=0-1");
  EXPECT_EQ(plan.deployments[2].node_flags[2][0], "--cpus=2-4");
}

TEST(NumaDeploymentsTest, ASingleCpuHasNothingToDivide) {
  const NumaPlan plan =
      Plan({}, Host({{.id = 0, .cpus = "0", .distances = "10"}}, "0"));
  EXPECT_THAT(NamesOf(plan), ElementsAre("one_unbound"));
  EXPECT_THAT(plan.omissions, Contains(HasSubstr("only one_unbound was run")));
}

TEST(NumaDeploymentsTest, AKernelWithoutNuma) {
  const NumaPlan plan = Plan({}, Host({}, "0-3"));
  EXPECT_THAT(plan.deployments[2].node_flags[1],
              ElementsAre("--cpus=0-1", "--workers=2"));
}

TEST(NumaDeploymentsTest, GeneratorsLeaveCpusWithoutNumaToo) {
  const auto plan =
      PlanNumaComparison(OneTest(), {.generator_cpus = "0-1"}, Host({}, "0-1"));
  EXPECT_THAT(std::string(plan.status().message()),
              HasSubstr("no CPU is left to the service"));
}

TEST(NumaDeploymentsTest, EachHasASearchForEachObjective) {
  const NumaPlan plan =
      Plan({.cpu_percent = 42.5, .objective = "query p99<=2ms"}, TwoNodes());
  for (const PlannedDeployment& deployment : plan.deployments) {
    std::vector<std::string> objectives;
    for (const search::SearchPlan& search : deployment.searches) {
      EXPECT_EQ(search.spec.knob(), "rate");
      EXPECT_EQ(search.test.name(), "t@" + deployment.description.name());
      objectives.push_back(search.spec.objectives(0));
    }
    EXPECT_THAT(objectives, ElementsAre("cpu<=42.5%", "query p99<=2ms"));
  }
  EXPECT_THAT(Plan({}, TwoNodes()).deployments[0].searches, SizeIs(1));
}

TEST(NumaDeploymentsTest, SaysWhatDoesNotFit) {
  const auto error = [](const DistributedSystemDescription& test,
                        const NumaOptions& options) {
    return std::string(
        PlanNumaComparison(test, options, TwoNodes()).status().message());
  };
  EXPECT_THAT(error(OneTest("ring_x"), {}), HasSubstr("fanout_filter ring_x"));
  EXPECT_THAT(error(OneTest(), {.service = "client"}),
              HasSubstr("\"client\" is not a service that receives RPCs; there "
                        "are: server"));
  EXPECT_THAT(error(OneTest(), {.numa_nodes = "0,5"}),
              HasSubstr("the host has no NUMA node 5"));
  EXPECT_THAT(error(OneTest(), {.numa_nodes = "x"}), HasSubstr("numa_nodes: "));
  EXPECT_THAT(error(OneTest(), {.generator_cpus = "1-"}),
              HasSubstr("generator_cpus: "));
  EXPECT_THAT(error(OneTest(), {.objective = "query p99<=fast"}),
              HasSubstr("fast"));
  EXPECT_THAT(error(OneTest(), {.generator_cpus = "9"}),
              HasSubstr("the generators cannot use CPUs 9"));
  EXPECT_THAT(error(OneTest(), {.generator_cpus = "0-3"}),
              HasSubstr("take all CPUs of NUMA node 0"));
  EXPECT_THAT(error(OneTest(), {.instances = 3}),
              HasSubstr("3 instances cannot be divided equally among 2"));
  EXPECT_THAT(error(OneTest(), {.instances = 10}),
              HasSubstr("more than the service's 8 CPUs"));
  EXPECT_THAT(error(OneTest("", R"(services { name: "other" count: 1 x_size: 1 }
                        rpc_descriptions {
                          name: "more" client: "client" server: "other" }
                        action_lists { name: "more" })"),
                    {}),
              HasSubstr("Say --service=NAME: other, server"));
}

}  // namespace
}  // namespace distbench::numa_compare
