// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/measures/judge_isolation.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "distbench/products/protection/measures/testing/example_experiment.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

report::ObjectiveOutcome JudgeText(const std::string& text,
                                   const std::vector<double>& seconds) {
  const absl::StatusOr<config::Objective> objective =
      config::ParseObjective(text);
  EXPECT_TRUE(objective.ok()) << objective.status();
  return objective.ok() ? JudgeSeconds(*objective, seconds)
                        : report::ObjectiveOutcome();
}

// Seconds of which the first `bad_count` have the value `bad`.
std::vector<double> Seconds(int count, int bad_count, double bad, double good) {
  std::vector<double> seconds(count, good);
  for (int i = 0; i < bad_count; ++i) seconds[i] = bad;
  return seconds;
}

TEST(JudgeSecondsTest, LimitsAPercentileOfTheGoodput) {
  // Five of a hundred seconds are below the 5th percentile, and the sixth is
  // it.
  const report::ObjectiveOutcome met =
      JudgeText("isol_p05>=90%", Seconds(100, 5, 0.5, 0.99));
  EXPECT_NEAR(met.excess.estimate, std::log(0.9 / 0.99), 1e-9);
  EXPECT_EQ(met.measured, "isol_p05 99 %");
  const report::ObjectiveOutcome missed =
      JudgeText("isol_p05>=90%", Seconds(100, 6, 0.5, 0.99));
  EXPECT_NEAR(missed.excess.estimate, std::log(0.9 / 0.5), 1e-9);
  EXPECT_EQ(missed.measured, "isol_p05 50 %");
}

TEST(JudgeSecondsTest, KnowsHowMuchTheSecondsSay) {
  const report::ObjectiveOutcome many =
      JudgeText("isol_p05>=90%", Seconds(1000, 10, 0.5, 0.99));
  EXPECT_EQ(many.estimate.lower, 0.99);
  EXPECT_EQ(many.estimate.upper, 0.99);
  EXPECT_EQ(many.excess.error, 0);
  // Twenty seconds have no lower bound of their 5th percentile.
  const report::ObjectiveOutcome few =
      JudgeText("isol_p05>=90%", Seconds(20, 0, 0, 0.99));
  EXPECT_FALSE(few.estimate.lower.has_value());
  EXPECT_EQ(few.excess.error, 0.25);
}

TEST(JudgeSecondsTest, LimitsTheMean) {
  const report::ObjectiveOutcome half =
      JudgeText("isol_mean>=50%", Seconds(100, 50, 0.25, 0.75));
  EXPECT_NEAR(half.excess.estimate, 0, 1e-9);
  EXPECT_EQ(half.measured, "isol_mean 50 %");
  ASSERT_TRUE(half.estimate.lower && half.estimate.upper);
  EXPECT_NEAR((*half.estimate.lower + *half.estimate.upper) / 2, 0.5, 1e-9);
  EXPECT_NEAR(*half.estimate.upper - *half.estimate.lower,
              2 * 1.984 * 0.2513 / 10, 1e-3);
}

TEST(JudgeSecondsTest, ASilentSecondIsWorseThanAnyLatency) {
  const report::ObjectiveOutcome tail =
      JudgeText("lat_imp_p95<=20%", Seconds(100, 6, kInfinity, 0.05));
  EXPECT_EQ(tail.excess.estimate, kInfinity);
  EXPECT_THAT(tail.measured, HasSubstr("nothing ended in some seconds"));
  const report::ObjectiveOutcome most =
      JudgeText("lat_imp_p95<=20%", Seconds(100, 4, kInfinity, 0.05));
  EXPECT_NEAR(most.excess.estimate, std::log(0.05 / 0.2), 1e-9);
  EXPECT_EQ(JudgeText("lat_imp_mean<=20%", Seconds(9, 1, kInfinity, 0))
                .excess.estimate,
            kInfinity);
}

TEST(JudgeSecondsTest, NoImpactAtAllIsFarFromTheLimit) {
  const report::ObjectiveOutcome none =
      JudgeText("lat_imp_p95<=20%", Seconds(100, 0, 0, 0));
  EXPECT_LT(none.excess.estimate, -5);
  EXPECT_EQ(none.excess.error, 0);
  const report::ObjectiveOutcome nothing_kept =
      JudgeText("isol_p05>=90%", Seconds(100, 100, 0, 0));
  EXPECT_GT(nothing_kept.excess.estimate, 5);
  EXPECT_TRUE(std::isfinite(nothing_kept.excess.estimate));
}

TEST(JudgeIsolationTest, NeedsTheRunOfACell) {
  const absl::StatusOr<config::Objective> objective =
      config::ParseObjective("isol_p05>=90%");
  ASSERT_TRUE(objective.ok());
  const absl::StatusOr<report::ObjectiveOutcome> outcome =
      JudgeIsolation(*objective, TestResult());
  EXPECT_EQ(outcome.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(outcome.status().message()),
              HasSubstr("\"isol_p05>=90%\" cannot be judged: "));
}

// A search would otherwise find that nothing disturbs a service which nothing
// disturbed.
TEST(JudgeIsolationTest, SaysWhatMakesItsFiguresDoubtful) {
  absl::StatusOr<config::Objective> objective =
      config::ParseObjective("isol_p05>=90%");
  ASSERT_TRUE(objective.ok());
  objective->rpc = kExampleRpc;
  const auto measured = [&](const ExampleRun& run) {
    const absl::StatusOr<report::ObjectiveOutcome> outcome =
        JudgeIsolation(*objective, ResultOf(run));
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    return outcome.ok() ? outcome->measured : "";
  };
  ExampleRun run = SteadyRun(100, 1'000'000);
  EXPECT_THAT(measured(run),
              StartsWith("isol_p05 100 %; the antagonist completed nothing"));
  for (ExampleSecond* second : InterferenceOf(run)) second->completed_count = 1;
  EXPECT_EQ(measured(run), "isol_p05 100 %");
  run.baseline_s = 2;
  EXPECT_THAT(measured(run), HasSubstr("whole intervals of its baseline: only "
                                       "2"));
}

// Relative to a baseline without goodput, anything is good, or nothing can be
// said. A search would go on to higher loads, or end.
TEST(JudgeIsolationTest, ALoadThatTheServiceDoesNotCarryAloneIsAMiss) {
  for (const char* text : {"isol_mean>=90%", "lat_imp_mean<=20%"}) {
    absl::StatusOr<config::Objective> objective = config::ParseObjective(text);
    ASSERT_TRUE(objective.ok());
    objective->rpc = kExampleRpc;
    objective->served_within_ns = 1'000'000;
    ExampleRun run = SteadyRun(96, 1'000'000);
    for (ExampleSecond& second : run.seconds) second.failed_count = 4;
    auto outcome = JudgeIsolation(*objective, ResultOf(run));
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_LT(outcome->excess.estimate, 0);
    for (ExampleSecond& second : run.seconds) {
      second.latency_ns.pop_back();
      ++second.failed_count;
    }
    outcome = JudgeIsolation(*objective, ResultOf(run));
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_EQ(outcome->excess.estimate, kInfinity);
    EXPECT_EQ(outcome->estimate.upper,
              objective->is_upper_limit ? kInfinity : 0);
    EXPECT_THAT(outcome->measured, StartsWith("only 95 % of the requests"));
    // Nothing at all is no problem of the run.
    for (ExampleSecond& second : run.seconds) {
      second.latency_ns.assign(100, 5'000'000);
    }
    outcome = JudgeIsolation(*objective, ResultOf(run));
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_EQ(outcome->excess.estimate, kInfinity);
    EXPECT_THAT(outcome->measured, StartsWith("only 0 % of the requests"));
  }
}

}  // namespace
}  // namespace distbench::protection
