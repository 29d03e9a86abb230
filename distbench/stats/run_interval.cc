// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/run_interval.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "distbench/stats/distributions.h"

namespace distbench::stats {
namespace {

double VarianceOfMean(absl::Span<const double> values) {
  return Variance(values) / static_cast<double>(values.size());
}

std::vector<double> Logarithms(absl::Span<const double> values) {
  std::vector<double> logarithms;
  for (const double value : values) logarithms.push_back(std::log(value));
  return logarithms;
}

}  // namespace

std::optional<Interval> IntervalOfMean(absl::Span<const double> runs,
                                       double confidence) {
  if (runs.size() < 2) return std::nullopt;
  const double mean = Mean(runs);
  const double variance = VarianceOfMean(runs);
  const double half_width =
      variance > 0 ? StudentTQuantile((1 + confidence) / 2, runs.size() - 1.0) *
                         std::sqrt(variance)
                   : 0;
  return Interval{mean - half_width, mean + half_width};
}

double Mean(absl::Span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

double Variance(absl::Span<const double> values) {
  const double mean = Mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / (static_cast<double>(values.size()) - 1);
}

Difference DifferenceOfMeans(absl::Span<const double> base,
                             absl::Span<const double> next, double confidence) {
  Difference difference = {Mean(next) - Mean(base), std::nullopt};
  if (base.size() < 2 || next.size() < 2) return difference;
  const double base_variance = VarianceOfMean(base);
  const double next_variance = VarianceOfMean(next);
  const double variance = base_variance + next_variance;
  double half_width = 0;
  if (variance > 0) {
    const double degrees_of_freedom =
        variance * variance /
        (base_variance * base_variance / (base.size() - 1.0) +
         next_variance * next_variance / (next.size() - 1.0));
    half_width = StudentTQuantile((1 + confidence) / 2, degrees_of_freedom) *
                 std::sqrt(variance);
  }
  difference.interval = {difference.estimate - half_width,
                         difference.estimate + half_width};
  return difference;
}

double GeometricMean(absl::Span<const double> values) {
  // Reports have the same digits of the value of a single run.
  if (values.size() == 1) return values[0];
  return std::exp(Mean(Logarithms(values)));
}

Difference RatioOfMeans(absl::Span<const double> base,
                        absl::Span<const double> next, double confidence) {
  Difference ratio =
      DifferenceOfMeans(Logarithms(base), Logarithms(next), confidence);
  ratio.estimate = std::exp(ratio.estimate);
  if (ratio.interval) {
    ratio.interval = {std::exp(ratio.interval->lower),
                      std::exp(ratio.interval->upper)};
  }
  return ratio;
}

std::optional<int> RunsToTellFrom(double value, absl::Span<const double> base,
                                  absl::Span<const double> next,
                                  absl::FunctionRef<double(int)> confidence_at,
                                  int most) {
  if (base.size() < 2 || next.size() < 2) return std::nullopt;
  const double distance = std::abs(Mean(next) - Mean(base) - value);
  // The variance for a single run in each group.
  const double variance = Variance(base) + Variance(next);
  const auto are_enough = [&](int runs) {
    const double degrees_of_freedom = 2.0 * runs - 2;
    const double errors =
        StudentTQuantile((1 + confidence_at(runs)) / 2, degrees_of_freedom) +
        StudentTQuantile(kPower, degrees_of_freedom);
    return errors * std::sqrt(variance / runs) < distance;
  };
  if (!are_enough(most)) return std::nullopt;
  // With more runs, both quantiles and the error of the mean are smaller.
  int fewer = 1;
  int enough = most;
  while (enough - fewer > 1) {
    const int middle = fewer + (enough - fewer) / 2;
    (are_enough(middle) ? enough : fewer) = middle;
  }
  return enough;
}

std::optional<int> RunsToTellRatioFrom(
    double ratio, absl::Span<const double> base, absl::Span<const double> next,
    absl::FunctionRef<double(int)> confidence_at, int most) {
  return RunsToTellFrom(std::log(ratio), Logarithms(base), Logarithms(next),
                        confidence_at, most);
}

}  // namespace distbench::stats
