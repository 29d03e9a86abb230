// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/launching/job/launcher_environment.h"

#include <map>
#include <string>

#include "distbench/base/testing/status_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::launching {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

using Variables = std::map<std::string, std::string>;

NodeAttributes Merged(const Variables& variables,
                      const NodeAttributes& given = {}) {
  const auto merged = MergeAttributes(LauncherEnvironment(variables), given);
  EXPECT_EQ(merged.status(), absl::OkStatus());
  return merged.value_or(NodeAttributes());
}

TEST(LauncherAttributesTest, NothingIsInvented) {
  EXPECT_THAT(Merged({}), IsEmpty());
  // What Slurm sets without a topology.
  EXPECT_THAT(Merged({{"SLURM_TOPOLOGY_ADDR", "n1"},
                      {"SLURM_TOPOLOGY_ADDR_PATTERN", "node"}}),
              IsEmpty());
}

TEST(LauncherAttributesTest, SlurmTellsTheLowestSwitch) {
  EXPECT_THAT(Merged({{"SLURM_TOPOLOGY_ADDR", "s0.s4.n1"},
                      {"SLURM_TOPOLOGY_ADDR_PATTERN", "switch.switch.node"}}),
              UnorderedElementsAre(Pair("switch", "s4")));
  EXPECT_THAT(Merged({{"SLURM_TOPOLOGY_ADDR", "b3.n1"},
                      {"SLURM_TOPOLOGY_ADDR_PATTERN", "block.node"}}),
              UnorderedElementsAre(Pair("block", "b3")));
  // A name with a dot could be two switches.
  EXPECT_THAT(Merged({{"SLURM_TOPOLOGY_ADDR", "s0.s4.n1.cluster"},
                      {"SLURM_TOPOLOGY_ADDR_PATTERN", "switch.switch.node"}}),
              IsEmpty());
}

TEST(LauncherAttributesTest, SlurmTellsPartitionAndDevices) {
  EXPECT_THAT(
      Merged({{"SLURM_JOB_PARTITION", "fast"},
              {"SLURM_JOB_GPUS", "0,1,2,3"},
              {"SLURM_STEP_GPUS", "0,1"}}),
      UnorderedElementsAre(Pair("partition", "fast"), Pair("gpus", "0,1")));
}

TEST(LauncherAttributesTest, ComponentsOfHeterogeneousJobsAreTold) {
  Variables job = {{"SLURM_HET_SIZE", "2"},
                   {"SLURM_JOB_PARTITION", "cpu"},
                   {"SLURM_JOB_NODELIST_HET_GROUP_0", "c[1-4]"},
                   {"SLURM_JOB_NODELIST_HET_GROUP_1", "g[01-02]"},
                   {"SLURM_JOB_PARTITION_HET_GROUP_0", "cpu"},
                   {"SLURM_JOB_PARTITION_HET_GROUP_1", "gpu"},
                   {"SLURMD_NODENAME", "g02"}};
  EXPECT_THAT(Merged(job), UnorderedElementsAre(Pair("het_group", "1"),
                                                Pair("partition", "gpu")));
  job["SLURMD_NODENAME"] = "c3";
  EXPECT_THAT(Merged(job), UnorderedElementsAre(Pair("het_group", "0"),
                                                Pair("partition", "cpu")));
  job["SLURMD_NODENAME"] = "elsewhere";
  EXPECT_THAT(Merged(job), UnorderedElementsAre(Pair("partition", "cpu")));
}

TEST(LauncherAttributesTest, StrongerOnesReplaceWeakerOnes) {
  const Variables variables = {
      {"SLURM_JOB_PARTITION", "fast"},
      {"DISTBENCH_NODE_ATTRIBUTES", "zone=a,partition=mine,rack=r1"}};
  EXPECT_THAT(
      Merged(variables, {{"rack", "r2"}, {"zone", "b=c"}}),
      UnorderedElementsAre(Pair("zone", "b=c"), Pair("partition", "mine"),
                           Pair("rack", "r2")));
}

TEST(LauncherAttributesTest, EmptyValuesRemove) {
  // Kubernetes gives the variable a name without a value for a label that the
  // host does not have.
  EXPECT_THAT(Merged({{"SLURM_JOB_PARTITION", "fast"},
                      {"DISTBENCH_NODE_ATTRIBUTES", "zone=,rack=r1"}},
                     {{"partition", ""}}),
              UnorderedElementsAre(Pair("rack", "r1")));
}

TEST(LauncherAttributesTest, SaysWhatIsWrong) {
  for (const char* wrong : {"zone", "=a", "rack=1,zone"}) {
    const auto merged = MergeAttributes(
        LauncherEnvironment(Variables{{"DISTBENCH_NODE_ATTRIBUTES", wrong}}),
        {});
    EXPECT_THAT(base::Message(merged.status()),
                AllOf(HasSubstr("DISTBENCH_NODE_ATTRIBUTES="),
                      HasSubstr("is not NAME=VALUE")))
        << wrong;
  }
}

}  // namespace
}  // namespace distbench::launching
