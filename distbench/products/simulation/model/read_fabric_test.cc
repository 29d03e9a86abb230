#include "distbench/products/simulation/model/read_fabric.h"

#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/fuzzing/kept_corpus.h"
#include "distbench/products/simulation/model/cluster_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kTree[] =
    "# The example of topology.conf(5), with a node more\n"
    "\n"
    "SwitchName=s0 Nodes=dev[0-5],login   # the first rack\n"
    "switchname=s1  NODES = \"dev[6-11]\"\n"
    "SwitchName=s2 LinkSpeed=100 \\\n"
    "  Nodes=dev[12-17]\n"
    "SwitchName=s3 Switches=s[0-2]\n";

std::string TopologyError(const std::string& text) {
  return base::Message(ParseSlurmTopology(text, "t.conf").status());
}

TEST(SlurmTopologyTest, ReadsSwitchesAndNodes) {
  const auto topology = ParseSlurmTopology(kTree, "t.conf");
  ASSERT_EQ(topology.status(), absl::OkStatus());
  ASSERT_EQ(topology->graph.switches_size(), 4);
  EXPECT_EQ(topology->graph.switches(0).name(), "s0");
  EXPECT_THAT(topology->graph.switches(0).hosts(),
              ElementsAre("dev[0-5],login"));
  EXPECT_THAT(topology->graph.switches(1).hosts(), ElementsAre("dev[6-11]"));
  EXPECT_THAT(topology->graph.switches(2).hosts(), ElementsAre("dev[12-17]"));
  EXPECT_THAT(topology->graph.switches(3).hosts(), IsEmpty());
  ASSERT_EQ(topology->graph.links_size(), 3);
  EXPECT_EQ(topology->graph.links(2).from(), "s2");
  EXPECT_EQ(topology->graph.links(2).to(), "s3");
}

TEST(SlurmTopologyTest, UplinksCarryTheHostsBelow) {
  const auto topology = ParseSlurmTopology(std::string(kTree) +
                                               "SwitchName=s4 Switches=s3,s5\n"
                                               "SwitchName=s5 Nodes=dev18\n",
                                           "t.conf");
  ASSERT_EQ(topology.status(), absl::OkStatus());
  const SimulatedLink host_link;
  const SimulatedLink& of_s0 = topology->graph.links(0).link();
  EXPECT_EQ(of_s0.gbps(), 7 * host_link.gbps());
  const SimulatedGraph::Link& of_s3 = topology->graph.links(3);
  EXPECT_EQ(of_s3.from(), "s3");
  EXPECT_EQ(of_s3.link().gbps(), 19 * host_link.gbps());
}

TEST(SlurmTopologyTest, SaysWhatItAssumes) {
  EXPECT_THAT(
      ParseSlurmTopology(kTree, "t.conf")->notes,
      ElementsAre(HasSubstr("rates"), HasSubstr("LinkSpeed is ignored")));
  EXPECT_THAT(ParseSlurmTopology("SwitchName=s Nodes=n1", "t.conf")->notes,
              IsEmpty());
}

TEST(SlurmTopologyTest, NodesBecomeHostsInOrder) {
  SimulatedFabric fabric;
  *fabric.mutable_graph() = ParseSlurmTopology(kTree, "t.conf")->graph;
  const auto model = MakeClusterModel(fabric, 19, 1);
  ASSERT_EQ(model.status(), absl::OkStatus());
  EXPECT_EQ(model->host_names[0], "dev0");
  EXPECT_EQ(model->host_names[6], "login");
  EXPECT_EQ(model->host_names[18], "dev17");
  std::vector<int> links;
  model->paths->Find(0, 18, 1, links);
  EXPECT_THAT(links, SizeIs(4));
}

TEST(SlurmTopologyTest, SaysAllThatIsWrong) {
  EXPECT_THAT(
      TopologyError("BlockName=b Nodes=n[1-2]\n"
                    "SwitchName=s0 Nodes=n[3-1]\n"
                    "Nodes=n7\n"
                    "SwitchName=s0 \\\nNodes=n8\n"
                    "SwitchName=s1 Switches=s[8-9]\n"
                    "SwitchName=s2\n"
                    "SwitchName=s3 Nodes=\"n9\n"
                    "what is this\n"),
      AllOf(HasSubstr("t.conf:1: \"blockname\" is not a parameter of "
                      "topology/tree"),
            HasSubstr("t.conf:2: \"n[3-1]\" is not a list of hosts"),
            HasSubstr("t.conf:3: has no SwitchName"),
            HasSubstr("t.conf:4: switch \"s0\" is there already"),
            HasSubstr("t.conf:6: switch \"s8\" has no line of its own"),
            HasSubstr("t.conf:7: switch \"s2\" has nothing below it"),
            HasSubstr("t.conf:8: "),
            HasSubstr("t.conf:9: \"what is this\" is not a parameter")));
  EXPECT_THAT(TopologyError("# nothing\n"), HasSubstr("has no switch"));
  EXPECT_THAT(TopologyError("SwitchName=a Switches=b\n"
                            "SwitchName=b Switches=a,c\n"
                            "SwitchName=c Nodes=n1\n"),
              HasSubstr("t.conf:1: switch \"a\" is below itself"));
}

TEST(SlurmTopologyTest, AnyTextGivesSwitchesOrAnError) {
  std::vector<std::string> corpus = fuzzing::KeptCorpus("slurm_topology");
  std::mt19937 random(/*seed=*/3);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = corpus[random() % corpus.size()];
    for (int edits = random() % 4; edits >= 0 && !text.empty(); --edits) {
      const size_t at = random() % text.size();
      text.replace(at, random() % 3, 1, "=\\\n#\"[]-,s1N "[random() % 13]);
    }
    const auto topology = ParseSlurmTopology(text, "t.conf");
    if (topology.ok()) {
      EXPECT_GT(topology->graph.switches_size(), 0) << text;
    } else {
      EXPECT_THAT(base::Message(topology.status()), HasSubstr("t.conf"));
    }
  }
}

TEST(ReadFabricTest, ReadsTextAndSlurmsFiles) {
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "/topology.conf") << kTree;
  std::ofstream(folder + "/fabric.textproto") << "host { cpus: 3 }";
  std::ofstream(folder + "/wrong.textproto") << "host {\n cpu: 3 }";
  const auto slurm = ReadFabric(folder + "/topology.conf");
  ASSERT_EQ(slurm.status(), absl::OkStatus());
  EXPECT_EQ(slurm->graph().switches_size(), 4);
  const auto text = ReadFabric(folder + "/fabric.textproto");
  ASSERT_EQ(text.status(), absl::OkStatus());
  EXPECT_EQ(text->host().cpus(), 3);
  EXPECT_THAT(base::Message(ReadFabric(folder + "/wrong.textproto").status()),
              HasSubstr("wrong.textproto:2:"));
  EXPECT_THAT(base::Message(ReadFabric(folder + "/none").status()),
              HasSubstr("/none"));
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
  EXPECT_THAT(yaml, HasSubstr("fabric.yaml:4:3: stacks[1].sigma: is -1"));
}

// A sweep may give what a file lacks, or simulate more hosts than there are.
TEST(ReadFabricTest, LeavesOutWhatDependsOnTheSimulation) {
  const std::string path = testing::TempDir() + "/slow.fabric";
  std::ofstream(path)
      << "host { slow_share: 0.5 } graph { switches { name: 's' "
         "hosts: 'h' } }";
  const auto fabric = ReadFabric(path);
  ASSERT_EQ(fabric.status(), absl::OkStatus());
  EXPECT_FALSE(MakeClusterModel(*fabric, 2, 1).ok());
}

}  // namespace
}  // namespace distbench::simulation
