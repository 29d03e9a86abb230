#include <string>

#include "distbench/report/findings/testing/judge_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using JudgeTest = report::JudgeTest;

TEST_F(JudgeTest, ASimulationWithinTheValidationIsNoFinding) {
  result_.mutable_simulation()->set_host_count(2);
  ExpectNothing();
}

TEST_F(JudgeTest, WhyASimulationMayBeFarOff) {
  result_.mutable_simulation()->add_outside_of_validation("more than 40 hosts");
  EXPECT_THAT(ExpectOne(Finding::WARN, "simulation"),
              HasSubstr("validated: more than 40 hosts."));
}

TEST_F(JudgeTest, KnownErrorsAreSaid) {
  result_.mutable_simulation()->add_known_errors("rates by -5 to +315 %");
  EXPECT_THAT(
      ExpectOne(Finding::WARN, "simulation"),
      AllOf(HasSubstr("this far off"), HasSubstr(": rates by -5 to +315 %")));
}

TEST_F(JudgeTest, SimulatedHostsHaveNoControlsAndRequirements) {
  DistributedSystemDescription& test = *result_.mutable_traffic_config();
  test.mutable_controls()->add_groups();
  test.mutable_requirements()->add_facts();
  EXPECT_EQ(Find("simulation"), "");
  result_.mutable_simulation();
  EXPECT_THAT(Find("simulation"), HasSubstr("by requirements, controls"));
}

}  // namespace
}  // namespace distbench::simulation
