// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/report/controls_report.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "distbench/report/findings/findings.h"
#include "distbench/report/findings/testing/judge_testing.h"
#include "distbench/report/json/json.h"
#include "distbench/report/testing/report_testing.h"
#include "distbench/report/text/text_summary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/results.pb.h"

namespace distbench::protection {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

class JudgeControlsTest : public report::JudgeTest {
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
              HasSubstr("/system.slice: says max. This run is not"));
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

TEST(ControlsTextTest, ControlsAreCountedAndExceptionsListed) {
  const TestResult result = report::ResultFromText(R"(
    resource_usage_logs {
      node_resources {
        key: "node0"
        value {
          controls {
            group: "a/0" file: "cpu.weight" wanted: "50"
            held: true after: "removed"
          }
          controls {
            group: "a/0" file: "memory.high" wanted: "4096"
            held: false problem: "says max" after: "removed"
          }
          controls {
            group: "/x" file: "io.weight" wanted: "5" held: true after: "left"
          }
        }
      }
      node_resources { key: "node1" value {} }
    })");
  EXPECT_THAT(
      report::Section(report::SummarizeTest(result), "Controls"),
      ElementsAre("  node0: 2 of 3 settings held",
                  "  node0: a/0 memory.high = 4096: not held: says max",
                  "  node0: /x io.weight = 5: left as others had set it"));
}

Json Rendered(const std::vector<TestResult>& results) {
  return Json::parse(
      report::RenderJson(report::InputOf(report::Sourced(results))));
}

TEST(ControlsJsonTest, ControlsAreListedWithTheirProofs) {
  const Json document = Rendered({report::ResultFromText(R"(
    resource_usage_logs {
      node_resources {
        key: "n"
        value {
          controls {
            group: "a/0" path: "/d/a" file: "cpu.weight" wanted: "50"
            before: "100" read_back: "50" held: true after: "removed"
          }
        }
      }
    })")});
  const Json& test = document["tests"][0];
  EXPECT_EQ(test["controls"], Json::array({{{"node", "n"},
                                            {"group", "a/0"},
                                            {"path", "/d/a"},
                                            {"file", "cpu.weight"},
                                            {"wanted", "50"},
                                            {"before", "100"},
                                            {"read_back", "50"},
                                            {"held", true},
                                            {"problem", nullptr},
                                            {"after", "removed"}}}));
}

}  // namespace
}  // namespace distbench::protection
