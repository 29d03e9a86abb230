#include "distbench/report/comparison/repeated_looks.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "distbench/report/comparison/compare.h"
#include "distbench/report/comparison/gate.h"
#include "distbench/report/comparison/testing/made_runs.h"
#include "distbench/report/verdicts/check.h"
#include "distbench/stats/distributions.h"
#include "distbench/stats/run_interval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(RepeatedLooksTest, ASingleLookHasTheWholeError) {
  EXPECT_THAT(LevelsOfLooks(0.05, {7, 7}), ElementsAre(DoubleNear(0.05, 1e-9)));
}

// Programs for clinical trials give these normal boundaries for five looks that
// spend 2.5 % by this function.
TEST(RepeatedLooksTest, BoundariesAreThoseOfOtherPrograms) {
  const std::vector<double> expected = {2.438, 2.427, 2.410, 2.397, 2.386};
  const std::vector<double> levels = LevelsOfLooks(0.025, {1, 5});
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(stats::NormalQuantile(1 - levels[i]), expected[i], 1.5e-3) << i;
  }
}

// The probability of a false verdict at some look, by simulation.
double ErrorOf(const std::vector<double>& levels, const LookPlan& plan) {
  constexpr int kTrials = 40'000;
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  int errors = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    double sum = 0;
    bool is_error = false;
    for (int runs = 1; runs <= plan.last; ++runs) {
      sum += normal(random);
      if (runs < plan.first) continue;
      const double level = levels[runs - plan.first];
      is_error |= std::erfc(sum / std::sqrt(2.0 * runs)) / 2 < level;
    }
    errors += is_error;
  }
  return errors / static_cast<double>(kTrials);
}

TEST(RepeatedLooksTest, AllLooksTogetherHaveTheError) {
  for (const LookPlan plan : {LookPlan{4, 20}, {1, 3}, {4, 5}, {2, 60}}) {
    // 4 standard errors.
    EXPECT_NEAR(ErrorOf(LevelsOfLooks(0.05, plan), plan), 0.05, 0.0044)
        << plan.first << " to " << plan.last;
  }
  // Without them, looks would buy a verdict.
  EXPECT_GT(ErrorOf(std::vector<double>(17, 0.05), {4, 20}), 0.12);
}

TEST(RepeatedLooksTest, TheErrorIsFiniteAtBothEnds) {
  for (const double error : {0.49, 1e-12}) {
    for (const double level : LevelsOfLooks(error, {1, 30})) {
      EXPECT_GT(level, 0);
      EXPECT_LE(level, error);
    }
  }
  const double last = LevelsOfLooks(0.05, {4, kMaxLooks}).back();
  EXPECT_GT(last, 0.005);
  EXPECT_LT(last, 0.02);
}

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
              HasSubstr(" runs of each would decide in 80% of the cases"));
  EXPECT_THAT(DescribeComparisons(repeated),
              HasSubstr("repeated until decided, at most 20 times"));
}

// Later looks have levels of their own, at which the runs that are asked for
// must be enough.
TEST(StoppingRuleTest, AsManyRunsAsAreAskedForProbablyDecide) {
  constexpr LookPlan kPlan = {4, 60};
  const std::vector<double> levels = LevelsOfLooks(0.05, kPlan);
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
