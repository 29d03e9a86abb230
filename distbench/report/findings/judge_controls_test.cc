#include "distbench/report/findings/testing/judge_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::report {
namespace {

using ::testing::HasSubstr;

class JudgeControlsTest : public JudgeTest {
 protected:
  ControlProof& AddProof(bool held) {
    NodeResources& node = (*result_.mutable_resource_usage_logs()
                                ->mutable_node_resources())["node7"];
    ControlProof& proof = *node.add_controls();
    proof.set_group("server/0");
    proof.set_file("memory.high");
    proof.set_held(held);
    if (!held) proof.set_problem("says max");
    return proof;
  }
};

TEST_F(JudgeControlsTest, AStrictControlThatDidNotHoldIsInvalid) {
  AddProof(true);
  AddProof(false);
  EXPECT_THAT(ExpectOne(Finding::INVALID, "controls_not_held"),
              HasSubstr("node7 did not hold 1 of 2 settings of control groups "
                        "from start to end: memory.high of server/0: says "
                        "max. The test requires them"));
}

TEST_F(JudgeControlsTest, ABestEffortThatFailedIsAWarning) {
  result_.mutable_traffic_config()->mutable_controls()->set_strict(false);
  ControlProof& proof = AddProof(false);
  proof.clear_file();
  proof.clear_group();
  proof.set_path("/system.slice");
  EXPECT_THAT(ExpectOne(Finding::WARN, "controls_not_held"),
              HasSubstr("/system.slice: says max. Do not take"));
}

TEST_F(JudgeControlsTest, ManyFailuresAreCounted) {
  for (int i = 0; i < 7; ++i) AddProof(false);
  EXPECT_THAT(ExpectOne(Finding::INVALID, "controls_not_held"),
              HasSubstr("; and 2 more"));
}

TEST_F(JudgeControlsTest, ControlsThatHeldAreNothing) {
  AddProof(true);
  ExpectNothing();
}

}  // namespace
}  // namespace distbench::report
