// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/comparison/until_decided.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "distbench/report/comparison/compare.h"
#include "distbench/report/comparison/gate.h"
#include "distbench/report/comparison/testing/made_runs.h"
#include "distbench/report/verdicts/check.h"
#include "distbench/stats/repeated_looks.h"
#include "distbench/stats/run_interval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Runs that are repeated at most `most_runs` times; 0: not until decided.
std::vector<TestResult> Runs(int count, int most_runs) {
  std::vector<TestResult> runs;
  for (int i = 0; i < count; ++i) {
    runs.push_back(RunOf(1'000'000 + i % 2 * 30'000));
    if (most_runs > 0) MarkUntilDecided(most_runs, runs.back());
  }
  return runs;
}

Check CheckOf(const std::vector<TestComparison>& compared) {
  return JudgeGates({*ParseGate("p99>2%")}, compared).at(0);
}

TEST(StoppingRuleTest, WidensTheBoundsOfAllLooks) {
  const auto chosen = Compared(Runs(6, 0), Runs(6, 0));
  const auto repeated = Compared(Runs(6, 20), Runs(6, 20));
  EXPECT_EQ(CheckOf(chosen).verdict, CheckVerdict::kPass);
  EXPECT_EQ(CheckOf(repeated).verdict, CheckVerdict::kUndecided);
  EXPECT_THAT(CheckOf(repeated).evidence,
              HasSubstr(" runs of each would decide in 80 % of the cases"));
  EXPECT_THAT(DescribeComparisons(repeated),
              HasSubstr("repeated until decided, at most 20 times"));
}

// Later looks have levels of their own, at which the runs that are asked for
// must be enough.
TEST(StoppingRuleTest, AsManyRunsAsAreAskedForProbablyDecide) {
  constexpr stats::LookPlan kPlan = {4, 60};
  const std::vector<double> levels = stats::LevelsOfLooks(0.05, kPlan);
  const auto confidence_at = [&](int runs) {
    return 1 - 2 * levels[std::max(0, runs - kPlan.first)];
  };
  const double spread = std::sqrt(0.5);
  const int runs = *stats::RunsToTellFrom(
      0, {-spread, spread}, {1 - spread, 1 + spread}, confidence_at, 60);
  EXPECT_GT(runs, *stats::RunsToTellFrom(0, {-spread, spread},
                                         {1 - spread, 1 + spread},
                                         [](int) { return 0.9; }));
  constexpr int kTrials = 1000;
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  int decided = 0;
  for (int i = 0; i < kTrials; ++i) {
    std::vector<double> base, next;
    for (int run = 0; run < runs; ++run) {
      base.push_back(normal(random));
      next.push_back(1 + normal(random));
    }
    const auto change =
        stats::DifferenceOfMeans(base, next, confidence_at(runs));
    decided += change.interval->lower > 0;
  }
  EXPECT_NEAR(decided / static_cast<double>(kTrials), 0.8, 0.05);
}

TEST(StoppingRuleTest, FewRunsAreNotJudged) {
  const auto compared = Compared(Runs(3, 20), Runs(4, 20));
  EXPECT_EQ(CheckOf(compared).verdict, CheckVerdict::kUndecided);
  EXPECT_THAT(CheckOf(compared).evidence, HasSubstr("3 of at least 4 runs"));
}

// Runs of which some were thrown away, or that were put together.
TEST(StoppingRuleTest, OtherRunsThanItAllowsAreNotComparable) {
  const auto why = [](std::vector<TestResult> base,
                      std::vector<TestResult> next) {
    return Compared(std::move(base), std::move(next))[0].not_comparable;
  };
  EXPECT_THAT(why(Runs(5, 5), Runs(5, 5)), IsEmpty());
  EXPECT_THAT(why(Runs(6, 5), Runs(5, 5)), HasSubstr("allows 5 runs of each"));
  EXPECT_THAT(why(Runs(5, 5), Runs(6, 5)), HasSubstr("and there are 6"));
  EXPECT_THAT(why(Runs(5, 0), Runs(5, 5)), HasSubstr("differs between runs"));
  EXPECT_THAT(why(Runs(5, 9), Runs(5, 5)), HasSubstr("differs between runs"));
  for (const char* wrong : {"", "3", "201", "-5", "nan", "5x", "1e9"}) {
    std::vector<TestResult> runs(5, RunOf(1000));
    for (TestResult& run : runs) {
      (*run.mutable_traffic_config()->mutable_attributes())["until_decided"] =
          wrong;
    }
    EXPECT_THAT(why(runs, runs), HasSubstr("not a number from 4 to 200"))
        << wrong;
  }
}

}  // namespace
}  // namespace distbench::report
