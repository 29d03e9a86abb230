// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/model/cluster_model.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

using ::testing::_;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

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

int64_t DelayNs(const ClusterModel& model, int from, int to,
                uint64_t connection = 1) {
  return model.switch_delay_ns(from, to, connection);
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
  ASSERT_EQ(model.host_links.size(), 3);
  EXPECT_EQ(model.host_links[2].delay_ns, 1000);
}

TEST(ClusterModelTest, ASwitchConnectsItsHosts) {
  const ClusterModel model =
      ModelOf("single_switch { host_link { gbps: 8 delay_ns: 70 } }", 3);
  ASSERT_EQ(model.host_links.size(), 3);
  for (const HostLink& link : model.host_links) {
    EXPECT_EQ(link.bytes_per_ns, 1);
    EXPECT_EQ(link.delay_ns, 70);
  }
  EXPECT_EQ(DelayNs(model, 2, 0), 0);
}

// 20 hosts are 3 leaves, of which the last has few.
TEST(ClusterModelTest, LeavesMeetInSpines) {
  const ClusterModel model = ModelOf(
      "leaf_spine { hosts_per_leaf: 8 spines: 4 host_link { delay_ns: 70 }"
      "             spine_link { delay_ns: 5 } }",
      20);
  ASSERT_EQ(model.host_links.size(), 20);
  EXPECT_EQ(model.host_links[19].delay_ns, 70);
  EXPECT_EQ(DelayNs(model, 0, 7), 0);
  EXPECT_EQ(DelayNs(model, 7, 8), 10);
  EXPECT_EQ(DelayNs(model, 19, 0), 10);
}

// Host 0 and host 1, between which there are n ways over one switch. The delay
// of way i is 10 i.
std::string Ways(int count) {
  std::string text =
      "switches { name: 's' hosts: 'n1' } switches { name: 't' hosts: 'n2' }";
  for (int i = 1; i <= count; ++i) {
    absl::StrAppend(&text, "switches { name: 'm", i, "' }",
                    "links { from: 's' to: 'm", i,
                    "' link { delay_ns: ", 10 * i - 1, " } }",
                    "links { from: 'm", i, "' to: 't' link { delay_ns: 1 } }");
  }
  return absl::StrCat("graph {", text, "}");
}

// Of n connections over k ways, each has n / k with a standard deviation of
// sqrt(n / k).
TEST(ClusterModelTest, ConnectionsSpreadEvenlyOverEqualPaths) {
  const ClusterModel model = ModelOf(Ways(4), 2);
  std::map<int64_t, int> counts;
  for (int i = 0; i < 40'000; ++i) ++counts[DelayNs(model, 0, 1, i)];
  EXPECT_EQ(counts.size(), 4);
  for (const auto& [delay_ns, count] : counts) {
    EXPECT_NEAR(count, 10'000, 400) << delay_ns;
  }
}

TEST(ClusterModelTest, AConnectionKeepsItsPathAndItsReverseMayDiffer) {
  const ClusterModel model = ModelOf(Ways(4), 2);
  int differing = 0;
  for (int connection = 0; connection < 400; ++connection) {
    const int64_t there_ns = DelayNs(model, 0, 1, connection);
    EXPECT_EQ(DelayNs(model, 0, 1, connection), there_ns);
    differing += DelayNs(model, 1, 0, connection) != there_ns;
  }
  EXPECT_NEAR(differing, 300, 50);  // three of four ways
}

// As real runs do, whose ports are others each time.
TEST(ClusterModelTest, EachSeedGivesConnectionsOtherPaths) {
  const ClusterModel model = ModelOf(Ways(3), 2, /*seed=*/1);
  const ClusterModel same = ModelOf(Ways(3), 2, /*seed=*/1);
  const ClusterModel other = ModelOf(Ways(3), 2, /*seed=*/2);
  int differing = 0;
  for (int connection = 0; connection < 400; ++connection) {
    const int64_t delay_ns = DelayNs(model, 0, 1, connection);
    EXPECT_EQ(DelayNs(same, 0, 1, connection), delay_ns);
    differing += DelayNs(other, 0, 1, connection) != delay_ns;
  }
  EXPECT_GT(differing, 200);
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
      AllOf(HasSubstr("host.cpus: "),
            HasSubstr("host.slow_share: 1.5 is out of range"),
            HasSubstr("host.slowness: nan is out of range"),
            HasSubstr("leaf_spine.spines: "),
            HasSubstr("leaf_spine.host_link.gbps: -1 is out of range"),
            HasSubstr("leaf_spine.host_link.delay_ns: "),
            AllOf(HasSubstr("stacks[0].driver: \"grcp\" is not a driver; did "
                            "you mean \"grpc\"?"),
                  HasSubstr("stacks[0].client_send.fixed_ns: inf is out of"),
                  HasSubstr("stacks[1].server_send.batch_ns: -3 is out of"),
                  HasSubstr("stacks[2].wakeup_cpu_ns: nan is out of"),
                  HasSubstr("stacks[3].driver: \"tcp\" has costs already"),
                  HasSubstr("stacks[3].sigma: -1 is out of"),
                  HasSubstr("activities[0].activity: \"ConsumeCPU\" is not an "
                            "activity; did you mean \"ConsumeCpu\"?"),
                  HasSubstr("activities[1].activity: \"Wait\" only waits"),
                  HasSubstr("activities[2].cpu_ns: is missing"))));
  EXPECT_THAT(ModelError("", 0), HasSubstr("host_count: "));
}

TEST(ClusterModelTest, SlowHostsNeedTheirSlowness) {
  EXPECT_THAT(ModelError("host { slow_share: 0.1 }"),
              HasSubstr("host.slowness: is missing"));
  EXPECT_THAT(ModelError("host { slow_share: 0 }"), IsEmpty());
  EXPECT_THAT(ModelError("host { slow_share: 0.1 slowness: 1 }"), IsEmpty());
}

TEST(ClusterModelTest, RatesThatOverflowTimeAreRefused) {
  EXPECT_THAT(ModelError("single_switch { host_link { gbps: 1e-18 } }"),
              HasSubstr("single_switch.host_link.gbps: 1e-18 is out of"));
  EXPECT_THAT(ModelError("single_switch { host_link { gbps: 1e-6 } }"),
              IsEmpty());
}

TEST(ClusterModelTest, ManyLeavesAndSpinesTakeNoMemory) {
  const ClusterModel model =
      ModelOf("leaf_spine { hosts_per_leaf: 1 spines: 10000 }", 10'000);
  EXPECT_EQ(DelayNs(model, 0, 9'999), 2000);
}

SimulatedFabric GraphOf(const std::string& text) {
  SimulatedFabric fabric;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      absl::StrCat("graph {", text, "}"), &fabric));
  return fabric;
}

std::string GraphError(const std::string& text, int host_count) {
  return base::Message(MakeClusterModel(GraphOf(text), host_count, 1).status());
}

TEST(GraphPathsTest, HostsAreNumberedInTheOrderOfSwitches) {
  const auto model = MakeClusterModel(
      GraphOf("switches { name: 'b' hosts: ['n[8-9]', 'm'] }"
              "switches { name: 'a' hosts: 'n7' hosts: 'n[1-5]' }"
              "links { from: 'a' to: 'b' link { delay_ns: 3 } }"),
      5, 1);
  ASSERT_EQ(model.status(), absl::OkStatus());
  EXPECT_THAT(model->host_names, ElementsAre("n8", "n9", "m", "n7", "n1"));
  EXPECT_EQ(model->host_links.size(), 5);
  EXPECT_EQ(DelayNs(*model, 0, 2), 0);
  EXPECT_EQ(DelayNs(*model, 4, 0), 3);
  EXPECT_EQ(DelayNs(*model, 0, 4), 3);
}

TEST(GraphPathsTest, EachSwitchHasLinksOfItsOwnToItsHosts) {
  const auto model = MakeClusterModel(
      GraphOf("switches { name: 'a' hosts: 'n1' host_link { gbps: 8 } }"
              "switches { name: 'b' hosts: 'n2' host_link { delay_ns: 7 } }"
              "links { from: 'a' to: 'b' }"),
      2, 1);
  ASSERT_EQ(model.status(), absl::OkStatus());
  EXPECT_EQ(model->host_links[0].bytes_per_ns, 1);
  EXPECT_EQ(model->host_links[0].delay_ns, 1000);
  EXPECT_EQ(model->host_links[1].delay_ns, 7);
}

TEST(GraphPathsTest, SaysWhatIsWrong) {
  EXPECT_THAT(
      GraphError("switches { name: 'left' hosts: 'n[1-2]' }"
                 "switches { name: 'left' hosts: 'n2' hosts: 'n[' }"
                 "switches { host_link { delay_ns: -1 } }"
                 "links { from: 'left' to: 'lefd' }"
                 "links { from: 'left' to: 'left' link { gbps: 0 } }",
                 3),
      AllOf(HasSubstr("graph.switches[1].name: \"left\" is the name of "
                      "another switch"),
            HasSubstr("graph.switches[1].hosts[0]: host \"n2\" is at a switch "
                      "already"),
            HasSubstr("graph.switches[1].hosts[1]: \"n[\" is not a list"),
            HasSubstr("graph.switches[2].name: is missing"),
            HasSubstr("graph.switches[2].host_link.delay_ns: "),
            HasSubstr("graph.links[0].to: \"lefd\" is not a switch; did you "
                      "mean \"left\"?"),
            HasSubstr("graph.links[1].to: the link leads from \"left\" to "
                      "itself"),
            HasSubstr("graph.links[1].link.gbps: "),
            HasSubstr("graph.switches: have 2 hosts, but 3 are simulated")));
}

TEST(GraphPathsTest, HostsThatCannotBeReachedAreNamed) {
  const std::string graph =
      "switches { name: 'a' hosts: 'n1' } switches { name: 'b' hosts: 'n2' }"
      "switches { name: 'c' hosts: 'n[3-4]' }"
      "links { from: 'a' to: 'b' }";
  EXPECT_THAT(GraphError(graph, 4),
              HasSubstr("no path leads from host \"n1\" to host \"n3\" at "
                        "switch \"c\"; add a link"));
  EXPECT_EQ(GraphError(graph, 2), "");
}

// Two paths of two hops, one of which begins with two parallel links, and a
// longer one that nothing may take, however short its delay.
TEST(GraphPathsTest, FlowsSpreadOverShortestPathsByLinks) {
  const auto model = MakeClusterModel(
      GraphOf("switches { name: 's' hosts: 'n1' }"
              "switches { name: 'x' } switches { name: 'y' }"
              "switches { name: 'z' }"
              "switches { name: 't' hosts: 'n2' }"
              "links { from: 's' to: 'x' link { delay_ns: 100 } }"
              "links { from: 'x' to: 's' link { delay_ns: 200 } }"
              "links { from: 's' to: 'y' link { delay_ns: 300 } }"
              "links { from: 'x' to: 't' link { delay_ns: 10 } }"
              "links { from: 't' to: 'y' link { delay_ns: 10 } }"
              "links { from: 'y' to: 'z' link { delay_ns: 1 } }"
              "links { from: 'z' to: 't' link { delay_ns: 1 } }"),
      2, 1);
  ASSERT_EQ(model.status(), absl::OkStatus());
  std::map<int64_t, int> counts;
  for (int connection = 0; connection < 30'000; ++connection) {
    ++counts[DelayNs(*model, 0, 1, connection)];
  }
  EXPECT_THAT(counts, ElementsAre(Pair(110, _), Pair(210, _), Pair(310, _)));
  for (const auto& [delay_ns, count] : counts) {
    EXPECT_NEAR(count, 10'000, 400) << delay_ns;
  }
}

// A random connected graph, as text and as a matrix of distances between
// switches (Floyd and Warshall).
class RandomGraph {
 public:
  explicit RandomGraph(int seed) : random_(seed), size_(2 + Below(12)) {
    distances_.assign(size_, std::vector<int>(size_, 1000));
    for (int i = 0; i < size_; ++i) {
      distances_[i][i] = 0;
      absl::StrAppend(&text_, "switches { name: 's", i, "' hosts: 'n", i,
                      "' }");
      if (i > 0) AddLink(i, Below(i));
    }
    for (int more = Below(2 * size_); more > 0; --more) {
      const int from = Below(size_);
      const int to = Below(size_);
      if (from != to) AddLink(from, to);
    }
    for (int via = 0; via < size_; ++via) {
      for (int from = 0; from < size_; ++from) {
        for (int to = 0; to < size_; ++to) {
          distances_[from][to] =
              std::min(distances_[from][to],
                       distances_[from][via] + distances_[via][to]);
        }
      }
    }
  }

  const std::string& text() const { return text_; }
  int size() const { return size_; }
  int distance(int from, int to) const { return distances_[from][to]; }

 private:
  int Below(int limit) { return static_cast<int>(random_() % limit); }

  void AddLink(int from, int to) {
    absl::StrAppend(&text_, "links { from: 's", from, "' to: 's", to, "' }");
    distances_[from][to] = distances_[to][from] = 1;
  }

  std::mt19937 random_;
  const int size_;
  std::string text_;
  std::vector<std::vector<int>> distances_;
};

TEST(GraphPathsTest, PathsOfRandomGraphsAreShortest) {
  for (int seed = 0; seed < 200; ++seed) {
    const RandomGraph graph(seed);
    const auto model = MakeClusterModel(GraphOf(graph.text()), graph.size(), 1);
    ASSERT_EQ(model.status(), absl::OkStatus()) << graph.text();
    for (int from = 0; from < graph.size(); ++from) {
      for (int to = 0; to < graph.size(); ++to) {
        if (from == to) continue;
        // Each link takes a microsecond.
        ASSERT_EQ(DelayNs(*model, from, to, seed),
                  1000 * graph.distance(from, to))
            << graph.text();
      }
    }
  }
}

// A fat tree of 10 000 hosts at 500 leaves: tables per pair of hosts would be
// too large for this to end.
TEST(GraphPathsTest, TenThousandHostsAreLaidOut) {
  std::string text = "switches { name: 'top' }";
  for (int leaf = 0; leaf < 500; ++leaf) {
    absl::StrAppend(&text, "switches { name: 'l", leaf, "' hosts: 'n", leaf,
                    "-[1-20]' } links { from: 'top' to: 'l", leaf, "' }");
  }
  const auto model = MakeClusterModel(GraphOf(text), 10'000, 1);
  ASSERT_EQ(model.status(), absl::OkStatus());
  EXPECT_EQ(DelayNs(*model, 0, 9'999), 2000);
}

TEST(ReadFabricTest, ReadsText) {
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "/fabric.textproto") << "host { cpus: 3 }";
  std::ofstream(folder + "/wrong.textproto") << "host {\n cpu: 3 }";
  const auto text = ReadFabric(folder + "/fabric.textproto");
  ASSERT_EQ(text.status(), absl::OkStatus());
  EXPECT_EQ(text->host().cpus(), 3);
  EXPECT_THAT(base::Message(ReadFabric(folder + "/wrong.textproto").status()),
              HasSubstr("wrong.textproto:2:"));
  EXPECT_THAT(base::Message(ReadFabric(folder + "/none").status()),
              HasSubstr("/none"));
}

TEST(ReadFabricTest, WhatIsNoLongerReadSaysWhatToDo) {
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "/topology.conf") << "SwitchName=a Nodes=n[0-1]\n";
  EXPECT_THAT(base::Message(ReadFabric(folder + "/topology.conf").status()),
              AllOf(HasSubstr("topology.conf: topologies of Slurm are no "
                              "longer read"),
                    HasSubstr("graph { switches {")));
  std::ofstream(folder + "/packets.fabric") << "host { cpus: 3 }\n"
                                               "transport { kind: DCTCP }\n";
  EXPECT_THAT(base::Message(ReadFabric(folder + "/packets.fabric").status()),
              AllOf(HasSubstr("packets.fabric:2:1: "),
                    HasSubstr("\"transport\". It was removed; leave it out")));
}

TEST(ReadFabricTest, ProblemsHaveTheirPlaces) {
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "/wrong.fabric") << R"(host { cpus: 0 }
graph {
  switches { name: "a" hosts: "h[0-1]" }
  switches { name: "a" hosts: "h2" }
  switches { name: "b" hosts: "h[3-" }
  links { from: "a" to: "c" }
}
)";
  const std::vector<std::string> lines = absl::StrSplit(
      base::Message(ReadFabric(folder + "/wrong.fabric").status()), '\n');
  EXPECT_THAT(
      lines,
      ElementsAre(
          HasSubstr("wrong.fabric:1:8: host.cpus: 0 is out of range"),
          HasSubstr("wrong.fabric:4:14: graph.switches[1].name: \"a\" is the"),
          HasSubstr("wrong.fabric:5:24: graph.switches[2].hosts[0]: "),
          HasSubstr("wrong.fabric:6:21: graph.links[0].to: \"c\" is not")));
  std::ofstream(folder + "/fabric.yaml") << "stacks:\n"
                                            "- driver: tcp\n"
                                            "- driver: tcp\n"
                                            "  sigma: -1\n";
  const std::string yaml =
      base::Message(ReadFabric(folder + "/fabric.yaml").status());
  EXPECT_THAT(yaml,
              HasSubstr("fabric.yaml:3:3: stacks[1].driver: \"tcp\" has"));
  EXPECT_THAT(yaml,
              HasSubstr("fabric.yaml:4:3: stacks[1].sigma: -1 is out of"));
}

// Files may be written for more hosts than they have.
TEST(ReadFabricTest, LeavesOutWhatDependsOnTheSimulation) {
  const std::string path = testing::TempDir() + "/one.fabric";
  std::ofstream(path) << "graph { switches { name: 's' hosts: 'h' } }";
  const auto fabric = ReadFabric(path);
  ASSERT_EQ(fabric.status(), absl::OkStatus());
  EXPECT_FALSE(MakeClusterModel(*fabric, 2, 1).ok());
}

}  // namespace
}  // namespace distbench::simulation
