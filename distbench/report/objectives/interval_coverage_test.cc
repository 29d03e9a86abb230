// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "distbench/report/objectives/objectives.h"
#include "distbench/report/objectives/testing/simulated_runs.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

constexpr int kRuns = 200;

// 93 % of 200, less three standard errors of 1.8 %. Taken for independent,
// rates of seconds that differ contain the truth in 40 %.
constexpr int kFewestContained = 175;

class IntervalCoverageTest : public testing::TestWithParam<SimulatedRun> {};

TEST_P(IntervalCoverageTest, ContainsTheTruthAsOftenAsItSays) {
  for (const Coverage& coverage :
       CoverageOfObjectives(GetParam(), SimulatedObjectives(), kRuns)) {
    EXPECT_GT(coverage.contained + coverage.of_independent, kFewestContained)
        << coverage.objective;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Runs, IntervalCoverageTest,
    testing::Values(SimulatedRun{.seconds = 5}, SimulatedRun{.seconds = 30},
                    SimulatedRun{.seconds = 5, .is_independent = false},
                    SimulatedRun{.seconds = 30, .is_independent = false}));

// What would not hold says so, and nothing else does.
TEST(IntervalCoverageTest, IntervalsOfIndependentValuesAreMarked) {
  const std::vector<std::string> objectives = {"attempt_p90<=1s", "cpu<=90%",
                                               "p90<=1s", "rate>=1"};
  const auto marked = [&](int seconds) {
    std::vector<int> counts;
    for (const Coverage& coverage :
         CoverageOfObjectives({.seconds = seconds}, objectives, 1)) {
      counts.push_back(coverage.of_independent);
    }
    return counts;
  };
  EXPECT_EQ(marked(3), std::vector<int>({1, 1, 1, 1}));
  EXPECT_EQ(marked(5), std::vector<int>({1, 1, 0, 0}));
  EXPECT_EQ(marked(30), std::vector<int>({1, 0, 0, 0}));
}

}  // namespace
}  // namespace distbench::report
