// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/arrivals/testing/arrival_testing.h"

#include <algorithm>
#include <cmath>

#include "boost/math/distributions/gamma.hpp"
#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "distbench/config/arrivals/small_random.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

constexpr double kSignificance = 0.001 / kSeeds;
constexpr int kCount = 5000;

}  // namespace

ArrivalPlan PlanOf(const std::string& text) {
  return CompileArrivals(base::FromText<Arrivals>(text));
}

std::vector<double> Times(ArrivalStream stream, int count) {
  std::vector<double> times;
  while (std::ssize(times) < count) {
    if (!stream.found()) {
      stream.Search();
      continue;
    }
    times.push_back(stream.time_ns());
    stream.Advance();
  }
  return times;
}

std::vector<double> Times(const ArrivalPlan& plan, uint64_t seed, int count) {
  return Times(ArrivalStream(plan, kIntervalNs, {.seed = seed}), count);
}

// Kolmogorov's series, with the correction for n of Stephens, EDF statistics
// for goodness of fit and some comparisons, 1974.
double KolmogorovPValue(std::vector<double> uniform) {
  std::sort(uniform.begin(), uniform.end());
  const double n = static_cast<double>(uniform.size());
  double distance = 0;
  for (size_t i = 0; i < uniform.size(); ++i) {
    const double rank = static_cast<double>(i);
    distance = std::max(
        {distance, uniform[i] - rank / n, (rank + 1) / n - uniform[i]});
  }
  const double x = distance * (std::sqrt(n) + 0.12 + 0.11 / std::sqrt(n));
  double sum = 0;
  for (int k = 1; k <= 100; ++k) {
    sum += (k % 2 == 1 ? 2 : -2) * std::exp(-2 * k * k * x * x);
  }
  return x < 0.2 ? 1 : std::clamp(sum, 0.0, 1.0);
}

double ExponentialCdf(double gap) { return -std::expm1(-gap); }

Cdf GammaCdf(double variation) {
  const double shape = 1 / (variation * variation);
  return [gamma = boost::math::gamma_distribution<double>(shape, 1 / shape)](
             double gap) { return boost::math::cdf(gamma, gap); };
}

void ExpectGapsOf(const std::string& arrivals, const Integral& integral,
                  const Cdf& cdf) {
  const ArrivalPlan plan = PlanOf(arrivals);
  SmallRandom random(1);
  for (int seed = 0; seed < kSeeds; ++seed) {
    const std::vector<double> times = Times(plan, seed, kCount);
    std::vector<double> uniform;
    for (size_t i = 1; i < times.size(); ++i) {
      const double gap =
          (integral(times[i]) - integral(times[i - 1])) / kIntervalNs;
      // Bursts have gaps below the resolution of times; a random value within
      // it is uniform, too.
      const double resolution =
          (std::nextafter(times[i], HUGE_VAL) - times[i]) / kIntervalNs;
      const double from = cdf(std::max(0.0, gap - resolution));
      const double to = cdf(std::max(0.0, gap + resolution));
      uniform.push_back(from + (to - from) * random.Share());
    }
    EXPECT_GT(KolmogorovPValue(uniform), kSignificance)
        << arrivals << ", seed " << seed;
  }
}

double Same(double time_ns) { return time_ns; }

}  // namespace distbench::config
