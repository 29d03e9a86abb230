// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/experiment/cells.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

Experiment MakeExperiment() {
  return base::FromText<Experiment>(R"(
    subject { loads: ["50%", "80%"] }
    antagonists { name: "cpu" }
    antagonists { name: "cache" }
    controls { name: "off" }
    controls { name: "on" }
    repeat: 3)");
}

std::vector<std::string> Names(const std::vector<ExperimentCell>& runs) {
  std::vector<std::string> names;
  for (const ExperimentCell& run : runs) names.push_back(DescribeCell(run));
  return names;
}

TEST(CellsTest, AreTheWholeMatrixAndEachAntagonistAlone) {
  Experiment experiment = MakeExperiment();
  experiment.set_repeat(1);
  EXPECT_THAT(Names(ListCells(experiment, 1)),
              UnorderedElementsAre(
                  "controls off, no antagonist, 50%",
                  "controls off, no antagonist, 80%", "controls off, cpu, 50%",
                  "controls off, cpu, 80%", "controls off, cache, 50%",
                  "controls off, cache, 80%", "controls on, no antagonist, 50%",
                  "controls on, no antagonist, 80%", "controls on, cpu, 50%",
                  "controls on, cpu, 80%", "controls on, cache, 50%",
                  "controls on, cache, 80%", "cpu alone", "cache alone"));
}

TEST(CellsTest, WithoutLoadsThereIsTheTestsOwn) {
  const Experiment experiment =
      base::FromText<Experiment>("controls { name: 'none' } repeat: 2");
  const std::vector<ExperimentCell> runs = ListCells(experiment, 1);
  EXPECT_THAT(Names(runs), ElementsAre("controls none, no antagonist",
                                       "controls none, no antagonist"));
  EXPECT_EQ(runs[1].repetition(), 1);
}

TEST(CellsTest, AllRunOnceBeforeAnyRunsAgain) {
  const std::vector<ExperimentCell> runs = ListCells(MakeExperiment(), 1);
  ASSERT_EQ(runs.size(), 3 * 14);
  std::set<std::vector<std::string>> orders;
  for (int repetition = 0; repetition < 3; ++repetition) {
    std::set<std::string> cells;
    std::vector<std::string> order;
    for (int i = 0; i < 14; ++i) {
      const ExperimentCell& run = runs[14 * repetition + i];
      EXPECT_EQ(run.repetition(), repetition);
      EXPECT_EQ(run.order(), 14 * repetition + i);
      cells.insert(DescribeCell(run));
      order.push_back(DescribeCell(run));
    }
    EXPECT_EQ(cells.size(), 14);
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 1);
}

TEST(CellsTest, TheOrderIsTheSeedsAndThatOfFewerRepetitions) {
  const std::vector<std::string> order = Names(ListCells(MakeExperiment(), 1));
  EXPECT_EQ(Names(ListCells(MakeExperiment(), 1)), order);
  EXPECT_NE(Names(ListCells(MakeExperiment(), 2)), order);
  Experiment shorter = MakeExperiment();
  shorter.set_repeat(2);
  EXPECT_THAT(Names(ListCells(shorter, 1)),
              ::testing::ElementsAreArray(order.begin(), order.begin() + 28));
}

TEST(CellsTest, RunsOfOneCellDifferInTheirRepetition) {
  const auto cell = [](const std::string& more) {
    return base::FromText<ExperimentCell>(
        absl::StrCat("controls: 'a' antagonist: 'b' load: '5/s' ", more));
  };
  EXPECT_TRUE(
      IsSameCell(cell("repetition: 0 order: 1"), cell("repetition: 1")));
  EXPECT_FALSE(IsSameRun(cell("repetition: 0"), cell("repetition: 1")));
  EXPECT_TRUE(IsSameRun(cell("repetition: 1 order: 4 load_per_second: 5"),
                        cell("repetition: 1 is_stable: true")));
  EXPECT_FALSE(IsSameCell(cell(""), cell("purpose: 'antagonist_alone'")));
}

}  // namespace
}  // namespace distbench::protection
