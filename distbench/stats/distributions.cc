#include "distbench/stats/distributions.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace distbench {
namespace {

// Where an increasing function of a positive argument reaches `target`. The
// function does so for a finite argument.
template <typename Function>
double Solve(Function increasing, double target) {
  double high = 1;
  while (increasing(high) < target) high *= 2;
  double low = 0;
  // Halves until there is no double between them.
  for (double middle = high / 2; low < middle && middle < high;
       middle = low + (high - low) / 2) {
    (increasing(middle) < target ? low : high) = middle;
  }
  return high;
}

// The continued fraction of the incomplete beta function (DLMF 8.17.22), by the
// modified Lentz method. Converges quickly for x < (a + 1) / (a + b + 2).
double BetaFraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300;
  constexpr double kEpsilon = 1e-15;
  constexpr int kMaxSteps = 10'000;
  const auto away_from_zero = [](double value) {
    return std::abs(value) < kTiny ? kTiny : value;
  };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m < kMaxSteps; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    fraction *= c * d;
    const double odd =
        -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    fraction *= c * d;
    if (std::abs(c * d - 1) < kEpsilon) break;
  }
  return fraction;
}

double RegularizedBeta(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
               a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * BetaFraction(x, a, b) / a
                                   : 1 - front * BetaFraction(1 - x, b, a) / b;
}

// P(-t <= T <= t).
double StudentTWithin(double t, double degrees_of_freedom) {
  const double t2 = t * t;
  // Of the two equal forms the one whose argument does not lose digits.
  return RegularizedBeta(t2 / (degrees_of_freedom + t2), 0.5,
                         degrees_of_freedom / 2);
}

double LogBinomialProbability(int64_t k, int64_t trials, double success) {
  return std::lgamma(trials + 1.0) - std::lgamma(k + 1.0) -
         std::lgamma(trials - k + 1.0) + k * std::log(success) +
         (trials - k) * std::log1p(-success);
}

// The smallest k with P(X <= k) >= probability, or > if `beyond`, by adding up
// from 0; for success <= 0.5, so that this is the short end.
int64_t SumUpTo(double probability, bool beyond, int64_t trials,
                double success) {
  double sum = 0;
  for (int64_t k = 0; k < trials; ++k) {
    sum += std::exp(LogBinomialProbability(k, trials, success));
    if (beyond ? sum > probability : sum >= probability) return k;
  }
  return trials;
}

}  // namespace

double NormalQuantile(double probability) {
  if (probability < 0.5) return -NormalQuantile(1 - probability);
  if (probability == 0.5) return 0;
  return Solve([](double x) { return std::erf(x / std::sqrt(2.0)); },
               2 * probability - 1);
}

double StudentTQuantile(double probability, double degrees_of_freedom) {
  if (probability < 0.5) {
    return -StudentTQuantile(1 - probability, degrees_of_freedom);
  }
  if (probability == 0.5) return 0;
  return Solve([&](double t) { return StudentTWithin(t, degrees_of_freedom); },
               2 * probability - 1);
}

int64_t BinomialQuantile(int64_t trials, double success_probability,
                         double probability) {
  constexpr double kLargeVariance = 1000;
  const double p = success_probability;
  const double variance = trials * p * (1 - p);
  if (variance < kLargeVariance) {
    if (p <= 0.5) return SumUpTo(probability, false, trials, p);
    // In failures Y = trials - X: the largest j with P(Y <= j) <= 1 -
    // probability is one less than the smallest beyond it.
    return trials - SumUpTo(1 - probability, true, trials, 1 - p);
  }
  const double z = NormalQuantile(probability);
  const double skew_term = (1 - 2 * p) * (z * z - 1) / 6;
  const double k = trials * p + z * std::sqrt(variance) + skew_term - 0.5;
  return std::clamp<int64_t>(static_cast<int64_t>(std::ceil(k)), 0, trials);
}

}  // namespace distbench
