// Gates against runs whose true change is known. bench/gate_error prints the
// table of docs/reports.md from the same simulation.

#include <cmath>

#include "distbench/report/comparison/testing/simulated_gates.h"
#include "gtest/gtest.h"

namespace distbench::report {
namespace {

// Ten conditions take thirty times as long as one.
int GatesOf(int conditions) { return conditions == 1 ? 200 : 40; }

// A share of 5 %, plus 3 standard errors.
int MostErrors(int conditions) {
  const double gates = GatesOf(conditions);
  return static_cast<int>(0.05 * gates + 3 * std::sqrt(0.05 * 0.95 * gates));
}

GateExperiment Experiment(double true_ratio, int conditions,
                          bool until_decided) {
  return {.true_ratio = true_ratio,
          .conditions = conditions,
          .runs = until_decided ? 16 : 8,
          .until_decided = until_decided,
          .gates = GatesOf(conditions)};
}

class GateSimulationTest : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(Looks, GateSimulationTest, testing::Bool(),
                         [](const auto& param) {
                           return param.param ? "UntilDecided" : "SingleLook";
                         });

TEST_P(GateSimulationTest, AChangeAtTheMarginIsMisjudgedOneTimeInTwentyAtMost) {
  const GateOutcomes one = SimulateGates(Experiment(1.05, 1, GetParam()));
  EXPECT_LE(one.passed, MostErrors(1));
  EXPECT_LE(one.failed, MostErrors(1));
  // The error is used, or gates would need more runs than necessary.
  EXPECT_GE(one.passed, 1);
  const GateOutcomes ten = SimulateGates(Experiment(1.05, 10, GetParam()));
  EXPECT_LE(ten.any_passed, MostErrors(10));
  EXPECT_LE(ten.failed, MostErrors(10));
}

TEST_P(GateSimulationTest, EqualsPassAndRegressionsFail) {
  const GateOutcomes equals = SimulateGates(Experiment(1, 1, GetParam()));
  EXPECT_GT(equals.passed, 0.85 * GatesOf(1));
  EXPECT_LT(equals.failed, 0.01 * GatesOf(1));
  const GateOutcomes worse = SimulateGates(Experiment(1.10, 1, GetParam()));
  EXPECT_GT(worse.failed, 0.85 * GatesOf(1));
  EXPECT_LT(worse.passed, 0.01 * GatesOf(1));
}

TEST(EarlyGateTest, LargeChangesAreDecidedEarly) {
  GateExperiment experiment = Experiment(1.3, 1, /*until_decided=*/true);
  EXPECT_LT(SimulateGates(experiment).mean_runs, 4.5);
}

}  // namespace
}  // namespace distbench::report
