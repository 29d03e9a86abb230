// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/repeated_looks.h"

#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

#include "distbench/stats/distributions.h"

namespace distbench::stats {
namespace {

// The sum of the runs is a Brownian motion on the times from 0 to 1, where 1 is
// the last look. Its density, without the paths that have crossed the boundary,
// is kept at points below the boundary: point j is at boundary - j * step.
struct Density {
  double boundary = 0;
  std::vector<double> values;
};

// Steps per standard deviation of one run's increment, and how many of these
// deviations matter.
constexpr int kStepsPerDeviation = 4;
constexpr double kReach = 8;

// Below this many standard deviations, the density is negligible.
constexpr double kLowestSum = -6.5;

double UpperTail(double x) { return std::erfc(x / std::numbers::sqrt2) / 2; }

double NormalDensity(double x) {
  return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
}

double SpentError(double error, double time) {
  return error * std::log1p((std::numbers::e - 1) * time);
}

// Simpson's rule; the density vanishes at the last point.
double Weight(size_t point, double step) {
  return step / 3 * (point == 0 ? 1 : point % 2 == 1 ? 4 : 2);
}

class Recursion {
 public:
  Recursion(double error, const LookPlan& plan)
      : error_(error),
        last_(plan.last),
        deviation_(std::sqrt(1.0 / plan.last)),
        step_(deviation_ / kStepsPerDeviation) {
    const double time = static_cast<double>(plan.first) / last_;
    const double deviation = std::sqrt(time);
    density_.boundary = deviation * NormalQuantile(1 - SpentError(error, time));
    for (double sum = density_.boundary; sum > kLowestSum; sum -= step_) {
      density_.values.push_back(NormalDensity(sum / deviation) / deviation);
    }
  }

  double boundary() const { return density_.boundary; }

  // Goes on from the look after `runs` - 1 runs.
  void LookAgain(int runs) {
    const double time = static_cast<double>(runs) / last_;
    const double to_spend =
        SpentError(error_, time) - SpentError(error_, time - 1.0 / last_);
    Density next = {FindBoundary(to_spend), {}};
    for (double sum = next.boundary; sum > kLowestSum; sum -= step_) {
      next.values.push_back(DensityAt(sum));
    }
    density_ = std::move(next);
  }

 private:
  // Integrates the density times `kernel` of the distance from `sum`, in
  // standard deviations of an increment, over the points from which an
  // increment may reach `sum`.
  template <typename Kernel>
  double Integrate(double sum, const Kernel& kernel) const {
    double integral = 0;
    for (size_t j = 0; j < density_.values.size(); ++j) {
      const double from = density_.boundary - static_cast<double>(j) * step_;
      const double distance = (sum - from) / deviation_;
      if (distance > kReach) break;
      if (distance < -kReach) continue;
      integral += Weight(j, step_) * density_.values[j] * kernel(distance);
    }
    return integral;
  }

  double DensityAt(double sum) const {
    return Integrate(sum, NormalDensity) / deviation_;
  }

  // The boundary that the next increment crosses with this probability.
  // Crossings from far below the boundary, beyond kReach, cannot happen.
  double FindBoundary(double probability) const {
    double low = density_.boundary - kReach * deviation_;
    double high = density_.boundary + kReach * deviation_;
    constexpr int kBisections = 40;
    for (int i = 0; i < kBisections; ++i) {
      const double middle = (low + high) / 2;
      (Integrate(middle, UpperTail) > probability ? low : high) = middle;
    }
    return (low + high) / 2;
  }

  const double error_;
  const double last_;
  const double deviation_;  // of the increment of a run
  const double step_;
  Density density_;
};

}  // namespace

std::vector<double> LevelsOfLooks(double error, const LookPlan& plan) {
  Recursion recursion(error, plan);
  std::vector<double> levels;
  for (int runs = plan.first; runs <= plan.last; ++runs) {
    if (runs > plan.first) recursion.LookAgain(runs);
    levels.push_back(
        UpperTail(recursion.boundary() /
                  std::sqrt(static_cast<double>(runs) / plan.last)));
  }
  return levels;
}

}  // namespace distbench::stats
