// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Queues on simulated hosts against theory. Loads and counts are such that
// tolerances are about three standard errors; seeds are fixed.

#include <cctype>
#include <cmath>
#include <cstdint>
#include <string>

#include "distbench/products/simulation/cluster/testing/queues.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

struct LoadCase {
  double load;
  int64_t count;
  double mean_tolerance;  // relative
  double quantile_tolerance;
};

constexpr LoadCase kLoadCases[] = {{0.3, 50'000, 0.02, 0.03},
                                   {0.6, 100'000, 0.04, 0.05},
                                   {0.9, 300'000, 0.12, 0.18}};

void ExpectNear(double measured, double expected, double tolerance,
                const char* what) {
  if (expected == 0) return;  // There is no formula.
  EXPECT_NEAR(measured, expected, tolerance * expected) << what;
}

class TheoryTest : public testing::TestWithParam<SimulatedQueue> {};

TEST_P(TheoryTest, SimulatedQueuesAreThoseOfTheory) {
  for (const LoadCase& at : kLoadCases) {
    SCOPED_TRACE(at.load);
    const QueueTheory theory = TheoryOf(GetParam(), at.load);
    const QueueFigures figures = Simulate(GetParam(), at.load, at.count, 1);
    EXPECT_NEAR(figures.rate, at.load, 0.02 * at.load);
    ExpectNear(figures.response.mean, theory.mean, at.mean_tolerance, "mean");
    ExpectNear(figures.response.p50, theory.p50, at.quantile_tolerance, "p50");
    ExpectNear(figures.response.p99, theory.p99, at.quantile_tolerance, "p99");
  }
}

std::string NameOfQueue(const testing::TestParamInfo<SimulatedQueue>& info) {
  std::string name;
  for (char c : info.param.name) {
    if (std::isalnum(c)) name += c;
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Queues, TheoryTest,
                         testing::ValuesIn(QueuesOfTheory()), NameOfQueue);

TEST(ForkJoinTest, OfTwoIsExactAndOfManyWithinItsBounds) {
  for (const LoadCase& at : kLoadCases) {
    SCOPED_TRACE(at.load);
    const double two = SimulateForkJoin(2, at.load, at.count, 1);
    EXPECT_NEAR(two, ForkJoin(at.load, 2), at.mean_tolerance * two);
    const double eight = SimulateForkJoin(8, at.load, at.count / 4, 1);
    EXPECT_NEAR(eight, ForkJoin(at.load, 8),
                (0.05 + at.mean_tolerance) * eight);
    EXPECT_GT(eight, ForkJoinLowerBound(at.load));
    EXPECT_LT(eight, ForkJoinUpperBound(at.load, 8));
  }
}

// Formulas against values from elsewhere.
TEST(QueueTheoryTest, FormulasHaveKnownValues) {
  // Two servers: the mean is 1 / (1 - load^2).
  EXPECT_NEAR(MMc(0.5, 2).mean, 1 / (1 - 0.25), 1e-9);
  EXPECT_NEAR(MMc(0.9, 2).mean, 1 / (1 - 0.81), 1e-9);
  // There the wait, if there is one, is distributed like the service, and there
  // is one in a third of the cases.
  const double p99 = MMc(0.5, 2).p99;
  EXPECT_NEAR(std::exp(-p99) * (1 + p99 / 3), 0.01, 1e-9);
  EXPECT_NEAR(MMc(0.7, 1).p50, MM1(0.7).p50, 1e-9);
  EXPECT_NEAR(MMc(0.7, 1).p99, MM1(0.7).p99, 1e-9);
  // Without load, fork-join waits for the longest of some service times.
  EXPECT_NEAR(ForkJoin(0, 4), 1 + 1. / 2 + 1. / 3 + 1. / 4, 1e-9);
  // The wait of M/D/1 is half that of M/M/1.
  EXPECT_NEAR(MD1(0.5).mean - 1, (MM1(0.5).mean - 1) / 2, 1e-9);
  // Without variation, M/G/1 is M/D/1.
  const QueueTheory fixed = MG1(0.6, {1}, 2'000'000);
  EXPECT_NEAR(fixed.mean, MD1(0.6).mean, 1e-9);
  EXPECT_NEAR(fixed.p99, MD1(0.6).p99, 0.03 * fixed.p99);
}

}  // namespace
}  // namespace distbench::simulation
