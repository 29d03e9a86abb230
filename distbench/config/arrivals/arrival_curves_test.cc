// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Arrivals whose rate changes over time, against the integral of the rate in
// closed form.

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "boost/math/distributions/chi_squared.hpp"
#include "distbench/config/arrivals/testing/arrival_testing.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

TEST(ArrivalCurvesTest, ASineModulatesAnyProcess) {
  const auto integral = [](double time_ns) {
    const double omega = 2 * std::numbers::pi / kSecond;
    return time_ns + 0.8 / omega *
                         (std::cos(omega * 0.25 * kSecond) -
                          std::cos(omega * (time_ns + 0.25 * kSecond)));
  };
  const std::string sine =
      "modulations { sine { period_ns: 1000000000 amplitude: 0.8 phase: 0.25 } "
      "}";
  ExpectGapsOf(sine, integral, ExponentialCdf);
  ExpectGapsOf(sine + " process: 'gamma' coefficient_of_variation: 2", integral,
               GammaCdf(2));
}

TEST(ArrivalCurvesTest, OnAndOffTakeTurns) {
  const auto integral = [](double time_ns) {
    const double round = std::floor(time_ns / (100 * kMs));
    return round * 30 * kMs + std::min(time_ns - round * 100 * kMs, 30 * kMs);
  };
  ExpectGapsOf("modulations { on_off { on_ns: 30000000 off_ns: 70000000 } }",
               integral, ExponentialCdf);
}

TEST(ArrivalCurvesTest, ARampAndStepsFollowTheirSchedule) {
  // From 0 to 2 in a second, then 0.5 for a second, then 3.
  const auto integral = [](double time_ns) {
    const double x = time_ns / kSecond;
    if (x < 1) return kSecond * x * x;
    return kSecond * (x < 2 ? 1 + 0.5 * (x - 1) : 1.5 + 3 * (x - 2));
  };
  ExpectGapsOf(
      "modulations { schedule { "
      "segments { duration_ns: 1000000000 factor: 0 to_factor: 2 } "
      "segments { duration_ns: 1000000000 factor: 0.5 } "
      "segments { duration_ns: 1000000000 factor: 3 } } }",
      integral, ExponentialCdf);
}

TEST(ArrivalCurvesTest, ModulationsMultiply) {
  // A ramp from 1 to 3 in 4 s, times steps of 1 and 2.
  const auto ramp = [](double x) { return x + x * x / 4; };
  const auto integral = [&](double time_ns) {
    const double x = time_ns / kSecond;
    double sum = 0;
    for (int i = 0; i < x; ++i) {
      const double end = std::min<double>(x, i + 1);
      sum += (ramp(std::min(4.0, end)) - ramp(std::min<double>(4, i)) +
              3 * (std::max(4.0, end) - std::max<double>(4, i))) *
             (i % 2 == 0 ? 1 : 2);
    }
    return kSecond * sum;
  };
  ExpectGapsOf(
      "modulations { schedule { "
      "segments { duration_ns: 4000000000 factor: 1 to_factor: 3 } } } "
      "modulations { schedule { repeat: true "
      "segments { duration_ns: 1000000000 factor: 1 } "
      "segments { duration_ns: 1000000000 factor: 2 } } }",
      integral, ExponentialCdf);
}

// The square of a ramp is a parabola: cells approximate what is not linear.
TEST(ArrivalCurvesTest, ChangesAtTheSameTimeMultiply) {
  const auto integral = [](double time_ns) {
    const double x = std::min(1.0, time_ns / (4 * kSecond));
    return 4 * kSecond * x * x * x / 3 + std::max(0.0, time_ns - 4 * kSecond);
  };
  const std::string ramp =
      "modulations { schedule { "
      "segments { duration_ns: 4000000000 factor: 0 to_factor: 1 } } } ";
  ExpectGapsOf(ramp + ramp, integral, ExponentialCdf);
}

// Counts per tenth of the period have the probabilities that the sine gives
// them (chi-square; a right process fails with a probability of 0.001).
TEST(ArrivalCurvesTest, CountsFollowTheSine) {
  constexpr int kBins = 10;
  const ArrivalPlan plan =
      PlanOf("modulations { sine { period_ns: 1000000000 amplitude: 1 } }");
  std::vector<double> counts(kBins, 0);
  double total = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    for (const double time_ns : Times(plan, seed, 10'000)) {
      if (time_ns > 9 * kSecond) break;
      ++counts[static_cast<int>(time_ns / (kSecond / kBins)) % kBins];
      ++total;
    }
  }
  double statistic = 0;
  for (int i = 0; i < kBins; ++i) {
    const double from = 2 * std::numbers::pi * i / kBins;
    const double to = 2 * std::numbers::pi * (i + 1) / kBins;
    const double expected = 9000.0 * kSeeds *
                            (to - from + std::cos(from) - std::cos(to)) /
                            (2 * std::numbers::pi);
    statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  EXPECT_LT(statistic,
            boost::math::quantile(boost::math::chi_squared(kBins), 1 - 0.001));
  EXPECT_NEAR(total, 9000.0 * kSeeds, 4 * std::sqrt(9000.0 * kSeeds));
}

// A Markov-modulated Poisson process of two states: the mean rate, and the
// limit of the index of dispersion of its counts, 1 + 2 (a - b)^2 p q / ((1/s +
// 1/t) m) with factors a, b, their shares of time p, q, mean durations s, t in
// intervals, and mean factor m (Fischer and Meier-Hellstern, The
// Markov-modulated Poisson process cookbook, 1993). Both within five standard
// errors over seeds.
TEST(ArrivalCurvesTest, MarkovStatesHaveTheirMeanAndDispersion) {
  const ArrivalPlan plan = PlanOf(
      "modulations { markov { states { factor: 5 mean_duration_ns: 20000000 } "
      "states { factor: 0.5 mean_duration_ns: 60000000 } } }");
  constexpr double kWindow = 4 * kSecond;
  constexpr int kWindows = 50;
  constexpr double kMean = (5 * 20 + 0.5 * 60) / 80;
  constexpr double kDispersion =
      1 + 2 * 4.5 * 4.5 * 0.25 * 0.75 / ((1.0 / 20 + 1.0 / 60) * kMean);
  std::vector<double> counts(kSeeds * kWindows, 0);
  for (int seed = 0; seed < kSeeds; ++seed) {
    for (const double time_ns : Times(plan, seed, 400'000)) {
      if (time_ns >= kWindows * kWindow) break;
      ++counts[seed * kWindows + static_cast<int>(time_ns / kWindow)];
    }
  }
  double mean = 0, variance = 0;
  for (const double count : counts) mean += count / counts.size();
  for (const double count : counts) {
    variance += (count - mean) * (count - mean) / (counts.size() - 1);
  }
  const double expected = kMean * kWindow / kIntervalNs;
  EXPECT_NEAR(mean, expected,
              5 * std::sqrt(kDispersion * expected / counts.size()));
  EXPECT_NEAR(variance / mean, kDispersion,
              5 * kDispersion * std::sqrt(2.0 / counts.size()) + 0.5);
}

TEST(ArrivalCurvesTest, ExponentialOnAndOffTimesKeepTheirShares) {
  const ArrivalPlan plan = PlanOf(
      "process: 'constant' modulations { on_off { on_ns: 2000000 off_ns: "
      "8000000 times: 'exponential' } }");
  double last_ns = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    last_ns += Times(plan, seed, 10'000).back();
  }
  // The time off comes in pieces, of which there are 5000 for each seed.
  EXPECT_NEAR(last_ns / (kSeeds * 10'000), 5 * kMs, 0.05 * kMs);
}

}  // namespace
}  // namespace distbench::config
