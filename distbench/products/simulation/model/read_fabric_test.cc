#include "distbench/products/simulation/model/read_fabric.h"

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/products/simulation/model/cluster_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
