#include "distbench/products/simulation/variation/field_path.h"

#include <string>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/simulation.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::simulation {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::string ErrorOfField(absl::string_view path, absl::string_view value,
                         SimulatedFabric fabric = {}) {
  return std::string(SetField(path, value, fabric).message());
}

TEST(SetFieldTest, SetsEachTypeAndAddsMessagesOnTheWay) {
  SimulatedFabric fabric;
  ASSERT_TRUE(SetField("host.slow_share", "0.01", fabric).ok());
  ASSERT_TRUE(SetField("host.cpus", "2", fabric).ok());
  ASSERT_TRUE(SetField("host.scheduler", "FIFO", fabric).ok());
  ASSERT_TRUE(SetField("leaf_spine.host_link.delay_ns", "700", fabric).ok());
  EXPECT_EQ(fabric.host().slow_share(), 0.01);
  EXPECT_EQ(fabric.host().cpus(), 2);
  EXPECT_EQ(fabric.host().scheduler(), SimulatedHost::FIFO);
  EXPECT_EQ(fabric.leaf_spine().host_link().delay_ns(), 700);
}

TEST(SetFieldTest, ElementsOfListsAreNamedByTheirFirstFieldOrNumber) {
  DistributedSystemDescription test;
  test.add_services()->set_name("root");
  test.add_services()->set_name("leaf.v2");
  ASSERT_TRUE(SetField("services[leaf.v2].count", "7", test).ok());
  ASSERT_TRUE(SetField("services[0].count", "3", test).ok());
  ASSERT_TRUE(
      SetField("services[root].protocol_driver_options_name", "a b", test)
          .ok());
  EXPECT_EQ(test.services(1).count(), 7);
  EXPECT_EQ(test.services(0).count(), 3);
  EXPECT_EQ(test.services(0).protocol_driver_options_name(), "a b");
}

TEST(SetFieldTest, OneOfSeveralElementsOfANameNeedsItsNumber) {
  SimulatedFabric fabric;
  for (const char* name : {"rank", "fetch"}) {
    ActivityCosts& costs = *fabric.add_activities();
    costs.set_activity("ConsumeCpu");
    costs.set_name(name);
    costs.set_cpu_ns(1);
  }
  EXPECT_THAT(
      ErrorOfField("activities[ConsumeCpu].cpu_ns", "7", fabric),
      HasSubstr("\"activities\" has 2 elements \"ConsumeCpu\"; name one "
                "by its number, from 0"));
  ASSERT_TRUE(SetField("activities[1].cpu_ns", "7", fabric).ok());
  EXPECT_EQ(fabric.activities(0).cpu_ns(), 1);
  EXPECT_EQ(fabric.activities(1).cpu_ns(), 7);
}

TEST(SetFieldTest, ErrorsNameThePartThatIsWrong) {
  EXPECT_THAT(ErrorOfField("hst.cpus", "1"),
              HasSubstr("no field \"hst\"; did you mean \"host\"?"));
  EXPECT_THAT(ErrorOfField("host.cpu", "1"), HasSubstr("\"cpus\"?"));
  EXPECT_THAT(
      ErrorOfField("host", "1"),
      HasSubstr("\"host\" is not a value, but has the fields \"cpus\""));
  EXPECT_THAT(ErrorOfField("host.cpus.more", "1"),
              HasSubstr("\"cpus\" has no fields"));
  EXPECT_THAT(ErrorOfField("host[0].cpus", "1"), HasSubstr("not a list"));
  EXPECT_THAT(ErrorOfField("stacks.sigma", "1"),
              HasSubstr("is a list; name one element"));
  EXPECT_THAT(ErrorOfField("stacks[tcp].sigma", "1"),
              HasSubstr("\"stacks\" has no element \"tcp\""));
  EXPECT_THAT(ErrorOfField("stacks[tcp", "1"), HasSubstr("']' is missing"));
  EXPECT_THAT(ErrorOfField("host.", "1"), HasSubstr("name of a field"));
  EXPECT_THAT(ErrorOfField("", "1"), HasSubstr("no field \"\""));
  SimulatedFabric fabric;
  fabric.add_stacks()->set_driver("tcp");
  EXPECT_THAT(ErrorOfField("stacks[tcp]", "1", fabric),
              HasSubstr("which field of it?"));
}

TEST(SetFieldTest, ErrorsSayWhatAValueMustBe) {
  EXPECT_THAT(ErrorOfField("host.cpus", "two"), HasSubstr("whole number"));
  EXPECT_THAT(ErrorOfField("host.cpus", "3000000000"), HasSubstr("range"));
  EXPECT_THAT(ErrorOfField("host.cpus", "1 slowness: 2"),
              HasSubstr("whole number"));
  EXPECT_THAT(ErrorOfField("host.slow_share", "1%"), HasSubstr("a number"));
  EXPECT_THAT(ErrorOfField("host.scheduler", "LIFO"),
              HasSubstr("one of \"PROCESSOR_SHARING\", \"FIFO\""));
}

TEST(SetFieldTest, DoesNotReplaceTheOtherNetwork) {
  SimulatedFabric fabric;
  fabric.mutable_single_switch()->mutable_host_link()->set_gbps(10);
  EXPECT_THAT(ErrorOfField("leaf_spine.spines", "2", fabric),
              HasSubstr("\"leaf_spine\" excludes \"single_switch\""));
  EXPECT_TRUE(SetField("single_switch.host_link.gbps", "40", fabric).ok());
  EXPECT_EQ(fabric.single_switch().host_link().gbps(), 40);
}

DistributedSystemDescription TestWithTwoServices() {
  DistributedSystemDescription test;
  test.add_services()->set_name("root");
  test.add_services()->set_name("leaf.v2");
  return test;
}

TEST(FieldCandidatesTest, FieldsOfMessagesOnTheWay) {
  const DistributedSystemDescription test = TestWithTwoServices();
  EXPECT_THAT(FieldCandidates("", test),
              AllOf(Contains("random_seed="), Contains("overload_limits."),
                    Contains("services[root]."), Contains("services[leaf.v2]."),
                    // There are none, and no single value.
                    Not(Contains(StartsWith("actions"))),
                    Not(Contains(StartsWith("objectives")))));
  EXPECT_THAT(FieldCandidates("overload_limits.max", test),
              Contains("overload_limits.max_threads="));
  EXPECT_THAT(FieldCandidates("services[leaf.v2].numa_binding.", test),
              Contains("services[leaf.v2].numa_binding.cpus="));
}

TEST(FieldCandidatesTest, WordsOfFields) {
  const SimulatedFabric fabric;
  EXPECT_THAT(
      FieldCandidates("host.scheduler=F", fabric),
      ElementsAre("host.scheduler=PROCESSOR_SHARING", "host.scheduler=FIFO"));
  EXPECT_THAT(FieldCandidates("host.scheduler=FIFO,", fabric),
              Contains("host.scheduler=FIFO,PROCESSOR_SHARING"));
  EXPECT_THAT(FieldCandidates("host.cpus=", fabric), IsEmpty());
  const DistributedSystemDescription test = TestWithTwoServices();
  EXPECT_THAT(FieldCandidates("services[root].admission.refuse=", test),
              ElementsAre("services[root].admission.refuse=newest",
                          "services[root].admission.refuse=oldest"));
  EXPECT_THAT(FieldCandidates("delay_actions_by_spinning=", test),
              ElementsAre("delay_actions_by_spinning=false",
                          "delay_actions_by_spinning=true"));
}

TEST(FieldCandidatesTest, PathsThatLeadNowhere) {
  const DistributedSystemDescription test = TestWithTwoServices();
  for (const char* typed : {"no_such.", "services.", "services[no_such].",
                            "random_seed.", "no_such=", "."}) {
    EXPECT_THAT(FieldCandidates(typed, test), IsEmpty()) << typed;
  }
}

}  // namespace
}  // namespace distbench::simulation
