// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Confidence intervals over the runs of one system. The unit is the run: what
// was measured within a run is not independent.

#ifndef DISTBENCH_STATS_RUN_INTERVAL_H_
#define DISTBENCH_STATS_RUN_INTERVAL_H_

#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

namespace distbench::stats {

// Confidence intervals of the difference between the means of two groups of
// runs.

struct Interval {
  double lower;
  double upper;
};

struct Difference {
  double estimate;

  // Absent if a group has a single value, which says nothing about the spread.
  std::optional<Interval> interval;
};

// Requires at least one value.
double Mean(absl::Span<const double> values);

// Returns the variance of what the values are a sample of. Requires at least
// two.
double Variance(absl::Span<const double> values);

// Returns mean(next) - mean(base), with the interval of B. L. Welch, The
// Generalization of "Student's" Problem when Several Different Population
// Variances are Involved, Biometrika 34 (1947) 28-35. Neither group may be
// empty.
Difference DifferenceOfMeans(absl::Span<const double> base,
                             absl::Span<const double> next, double confidence);

// Returns how many runs each group needs so that the confidence interval
// excludes `value` with a probability of kPower, if the difference and the
// spread are those of the present runs. confidence_at() returns the interval's
// confidence with so many runs, which must not rise much with them. Absent if
// that is more than `most`, which is at least 2, or if the groups say nothing
// about the spread.
inline constexpr int kMostRuns = 1000;
inline constexpr double kPower = 0.8;
std::optional<int> RunsToTellFrom(double value, absl::Span<const double> base,
                                  absl::Span<const double> next,
                                  absl::FunctionRef<double(int)> confidence_at,
                                  int most = kMostRuns);

// Requires at least one value; all must be positive.
double GeometricMean(absl::Span<const double> values);

// Returns the ratio of the geometric means, next / base, which is the
// difference of the means of logarithms: a factor of 2 in one run and of 1/2 in
// the next cancel out. All values must be positive.
Difference RatioOfMeans(absl::Span<const double> base,
                        absl::Span<const double> next, double confidence);

// Same as RunsToTellFrom(), for the ratio. `ratio` must be positive.
std::optional<int> RunsToTellRatioFrom(
    double ratio, absl::Span<const double> base, absl::Span<const double> next,
    absl::FunctionRef<double(int)> confidence_at, int most = kMostRuns);

// Returns Student's t interval of the mean of the runs' values, which are
// finite. Absent for fewer than two runs, which say nothing about the spread.
std::optional<Interval> IntervalOfMean(absl::Span<const double> runs,
                                       double confidence);

}  // namespace distbench::stats

#endif  // DISTBENCH_STATS_RUN_INTERVAL_H_
