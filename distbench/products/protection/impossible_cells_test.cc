// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/impossible_cells.h"

#include <string>
#include <vector>

#include "distbench/products/protection/testing/example_experiment.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> NoControls(const DistributedSystemDescription& test) {
  if (test.controls().name() != "on") return {};
  return {"node0 (host h): controls cannot be set"};
}

TEST(ImpossibleCellsTest, NothingIsSaidOfCellsThatCanBeRun) {
  EXPECT_THAT(
      ImpossibleCells(ExamplePlan(), TestSequenceResults(),
                      [](const auto&) { return std::vector<std::string>(); }),
      IsEmpty());
}

TEST(ImpossibleCellsTest, AReasonIsSaidOnceForAllRunsOfAllItsCells) {
  EXPECT_THAT(ImpossibleCells(ExamplePlan("repeat: 2"), TestSequenceResults(),
                              NoControls),
              ElementsAre(AllOf(
                  HasSubstr("4 of 10 runs cannot be made ("),
                  HasSubstr("controls on, hog"),
                  HasSubstr("): node0 (host h): controls cannot be set"))));
}

TEST(ImpossibleCellsTest, WhatHasBeenRunIsNotSaid) {
  TestSequenceResults results;
  ExperimentCell& cell = *results.add_test_results()->mutable_experiment_cell();
  cell.set_controls("on");
  cell.set_antagonist("hog");
  EXPECT_THAT(ImpossibleCells(ExamplePlan("repeat: 1"), results, NoControls),
              ElementsAre(HasSubstr("1 of 5 runs cannot be made")));
}

}  // namespace
}  // namespace distbench::protection
