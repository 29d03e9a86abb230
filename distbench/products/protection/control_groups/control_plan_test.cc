// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/control_groups/control_plan.h"

#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<ControlledInstance> kInstances = {
    {"leaf_a/0", "leaf_a"}, {"root/0", "root"}, {"leaf_b/0/1", "leaf_b"}};

ControlPlan Plan(const std::string& set) {
  return PlanControls(base::FromText<ControlSet>(set), kInstances,
                      HostAmounts());
}

std::vector<std::string> Names(const std::vector<FileSetting>& settings) {
  std::vector<std::string> names;
  for (const FileSetting& each : settings) names.push_back(each.file);
  return names;
}

TEST(ControlPlanTest, PutsInstancesIntoTheFirstGroupThatNamesTheirService) {
  const ControlPlan plan = Plan(R"(
    groups { services: "nobody" cpu_weight: 1 }
    groups { services: "x" services: "leaf*" cpu_weight: 2 }
    groups { services: "leaf_b" cpu_weight: 3 })");
  ASSERT_EQ(plan.groups.size(), 2u);
  EXPECT_EQ(InstancesOf(plan.groups[0]), "leaf_a/0, leaf_b/0/1");
  EXPECT_THAT(Names(plan.groups[0].settings), ElementsAre("cpu.weight"));
  EXPECT_EQ(plan.groups[0].settings[0].value, "2");
  EXPECT_EQ(plan.groups[0].members[1].folder_name, "1-leaf_b.0.1");
  EXPECT_EQ(InstancesOf(plan.groups[1]), "root/0");
  EXPECT_THAT(plan.groups[1].settings, IsEmpty());
}

TEST(ControlPlanTest, KeepsOthersAndDevicesApart) {
  const ControlPlan plan = Plan(R"(
    groups { everything_else: true cpu_weight: 10 memory_max: "max" }
    io_cost { device: "none" enable: true })");
  EXPECT_THAT(Names(plan.everything_else),
              ElementsAre("cpu.weight", "memory.max"));
  EXPECT_THAT(Names(plan.devices), ElementsAre("io.cost.qos"));
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups[0].members.size(), 3u);
}

TEST(ControlPlanTest, NamesOfFoldersAreAllowed) {
  const std::string long_name(500, '/');
  const ControlPlan plan = PlanControls(
      ControlSet(), {{long_name, "a"}, {long_name + "b", "a"}}, HostAmounts());
  const auto& members = plan.groups.at(0).members;
  EXPECT_LE(members[0].folder_name.size(), 255u);
  EXPECT_EQ(members[0].folder_name.find('/'), std::string::npos);
  EXPECT_NE(members[0].folder_name, members[1].folder_name);
}

}  // namespace
}  // namespace distbench::protection
