// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/bench/jobs/passive_controls.h"

#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::bench {
namespace {

using ::testing::ElementsAre;

constexpr char kControls[] = R"pb(
  groups {
    services: "server"
    cpu_weight: 200
    cpu_max: "1"
    cpuset_cpus: "0"
    cpuset_mems: "0"
    memory_min: "1MiB"
    memory_low: "50%"
    memory_high: "max"
    memory_max: "max"
    memory_swap_max: "0B"
    io_weight: 500
    io_max { device: "sda" read_operations: 10 }
    io_priority_class: "idle"
  }
  io_cost { device: "sda" enable: true }
)pb";

DistributedSystemDescription TestWithControls() {
  DistributedSystemDescription test;
  *test.mutable_controls() = base::FromText<ControlSet>(kControls);
  *test.mutable_experiment()->add_controls() =
      base::FromText<ControlSet>(kControls);
  return test;
}

ControlSet Untouched(std::vector<std::string> passive) {
  DistributedSystemDescription test = TestWithControls();
  LeaveUntouched(passive, test);
  EXPECT_TRUE(test.has_controls());
  EXPECT_EQ(test.controls().ShortDebugString(),
            test.experiment().controls(0).ShortDebugString());
  return test.controls();
}

TEST(PassiveControlsTest, AllMeansEachOfThem) {
  EXPECT_THAT(*ParsePassive("all"), ElementsAre("cpu", "io", "mem"));
}

TEST(PassiveControlsTest, WithoutANameThereIsAnError) {
  EXPECT_FALSE(ParsePassive("").ok());
  EXPECT_FALSE(ParsePassive("cpu+").ok());
}

TEST(PassiveControlsTest, IoLeavesTheRest) {
  const ControlSet controls = Untouched({"io"});
  EXPECT_EQ(controls.io_cost_size(), 0);
  EXPECT_FALSE(controls.groups(0).has_io_weight());
  EXPECT_EQ(controls.groups(0).io_max_size(), 0);
  EXPECT_FALSE(controls.groups(0).has_io_priority_class());
  EXPECT_TRUE(controls.groups(0).has_cpu_weight());
  EXPECT_TRUE(controls.groups(0).has_memory_low());
}

// A group without a setting would not be valid.
TEST(PassiveControlsTest, AllLeavesNoGroups) {
  DistributedSystemDescription test = TestWithControls();
  test.mutable_experiment()->mutable_controls(0)->set_name("on");
  LeaveUntouched({"cpu", "io", "mem"}, test);
  EXPECT_FALSE(test.has_controls());
  EXPECT_EQ(test.experiment().controls(0).ShortDebugString(), "name: \"on\"");
}

TEST(PassiveControlsTest, NothingPassiveChangesNothing) {
  EXPECT_EQ(Untouched({}).ShortDebugString(),
            base::FromText<ControlSet>(kControls).ShortDebugString());
}

TEST(PassiveControlsTest, ATestWithoutAnExperimentGetsNone) {
  DistributedSystemDescription test;
  LeaveUntouched({"io"}, test);
  EXPECT_FALSE(test.has_experiment());
  EXPECT_FALSE(test.has_controls());
}

}  // namespace
}  // namespace distbench::bench
