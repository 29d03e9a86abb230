#include <string>

#include "distbench/report/findings/judge.h"
#include "distbench/report/findings/testing/judge_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::report {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST_F(JudgeTest, HostsThatDoNotMeetRequirementsAreAWarningEach) {
  HostRequirements& requirements =
      *result_.mutable_traffic_config()->mutable_requirements();
  requirements.set_strict(false);
  requirements.add_facts()->set_name("smt");
  requirements.mutable_facts(0)->set_string_value("off");
  auto& nodes =
      *result_.mutable_resource_usage_logs()->mutable_node_resources();
  nodes["node0"].mutable_host()->set_is_smt_active(false);
  ExpectNothing();
  for (const std::string alias : {"node1", "node2"}) {
    nodes[alias].mutable_host()->set_hostname("g");
    nodes[alias].mutable_host()->set_is_smt_active(true);
  }
  EXPECT_THAT(ExpectOne(Finding::WARN, "requirement_not_met"),
              HasSubstr("host g does not meet the test's requirements: smt is "
                        "\"on\", but the test requires \"off\". "));
  nodes["node3"].mutable_host()->set_hostname("i");
  EXPECT_THAT(Judge(result_), SizeIs(2));
}

}  // namespace
}  // namespace distbench::report
