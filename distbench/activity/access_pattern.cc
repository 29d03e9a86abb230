// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/activity/access_pattern.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace distbench::activity {
namespace {

// log(1 + x) / x and (exp(x) - 1) / x, also at 0.
double LogRatio(double x) { return x == 0 ? 1 : std::log1p(x) / x; }
double ExpRatio(double x) { return x == 0 ? 1 : std::expm1(x) / x; }

// x^-skew, its integral, and the inverse of that.
double Density(double x, double skew) { return std::exp(-skew * std::log(x)); }

double Integral(double x, double skew) {
  const double log_x = std::log(x);
  return ExpRatio((1 - skew) * log_x) * log_x;
}

double InverseIntegral(double integral, double skew) {
  // Rounding can lead below the smallest value that the integral has.
  const double bounded = std::max(-1.0, integral * (1 - skew));
  return std::exp(LogRatio(bounded) * integral);
}

}  // namespace

AccessPattern::AccessPattern(const AccessOptions& options, int64_t count)
    : options_(options), count_(count) {
  if (options_.kind != AccessOptions::Kind::kZipf) return;
  const double skew = options_.skew;
  first_integral_ = Integral(1.5, skew) - 1;
  last_integral_ = Integral(static_cast<double>(count) + 0.5, skew);
  sure_distance_ =
      2 - InverseIntegral(Integral(2.5, skew) - Density(2, skew), skew);
}

int64_t AccessPattern::Next(base::WorkRandom& random) const {
  switch (options_.kind) {
    case AccessOptions::Kind::kUniform:
      break;
    case AccessOptions::Kind::kNormal:
      return NextNormal(random);
    case AccessOptions::Kind::kZipf:
      return NextZipf(random);
  }
  return static_cast<int64_t>(random.Below(count_));
}

// Draws again beyond the ends. With the largest spread, more than a third of
// the numbers are within.
int64_t AccessPattern::NextNormal(base::WorkRandom& random) const {
  while (true) {
    const double radius = std::sqrt(-2 * std::log(random.Fraction()));
    const double normal =
        radius * std::cos(2 * std::numbers::pi * random.Fraction());
    const double position = 0.5 + options_.spread * normal;
    if (position < 0 || position >= 1) continue;
    return std::min(count_ - 1, static_cast<int64_t>(
                                    position * static_cast<double>(count_)));
  }
}

// Rejection-inversion: W. Hoermann, G. Derflinger, "Rejection-inversion to
// generate variates from monotone discrete distributions", ACM TOMACS 6, 1996.
int64_t AccessPattern::NextZipf(base::WorkRandom& random) const {
  const double skew = options_.skew;
  while (true) {
    const double integral =
        last_integral_ + random.Fraction() * (first_integral_ - last_integral_);
    const double x = InverseIntegral(integral, skew);
    const double rank =
        std::clamp(std::round(x), 1.0, static_cast<double>(count_));
    if (rank - x <= sure_distance_ ||
        integral >= Integral(rank + 0.5, skew) - Density(rank, skew)) {
      return static_cast<int64_t>(rank) - 1;
    }
  }
}

}  // namespace distbench::activity
