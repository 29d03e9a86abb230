// How far the means of two groups of runs are apart.

#ifndef DISTBENCH_STATS_WELCH_INTERVAL_H_
#define DISTBENCH_STATS_WELCH_INTERVAL_H_

#include <optional>

#include "absl/types/span.h"

namespace distbench {

struct Interval {
  double lower;
  double upper;
};

struct Difference {
  double estimate;

  // Absent if a group has a single value, which tells nothing of how values
  // differ from one to the next.
  std::optional<Interval> interval;
};

// mean(next) - mean(base), with the interval of B. L. Welch, The Generalization
// of "Student's" Problem when Several Different Population Variances are
// Involved, Biometrika 34 (1947) 28-35. Neither group is empty.
Difference DifferenceOfMeans(absl::Span<const double> base,
                             absl::Span<const double> next, double confidence);

// How many runs each group needs until an interval of that confidence, at the
// spread between the runs that there are, leaves out `value` on one side. Absent
// if that is more than kMostRuns, or the groups tell nothing of the spread.
inline constexpr int kMostRuns = 1000;
std::optional<int> RunsToTellFrom(double value, absl::Span<const double> base,
                                  absl::Span<const double> next,
                                  double confidence);

// The ratio of the geometric means, next / base, which is the difference of the
// means of logarithms: a factor of 2 one time and of 1/2 the next cancel out.
// All values are positive.
Difference RatioOfMeans(absl::Span<const double> base,
                        absl::Span<const double> next, double confidence);

// As RunsToTellFrom(), for the ratio. `ratio` is positive.
std::optional<int> RunsToTellRatioFrom(double ratio,
                                       absl::Span<const double> base,
                                       absl::Span<const double> next,
                                       double confidence);

}  // namespace distbench

#endif  // DISTBENCH_STATS_WELCH_INTERVAL_H_
