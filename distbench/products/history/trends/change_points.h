// Changes in a series of results: from when on the values are others.

#ifndef DISTBENCH_PRODUCTS_HISTORY_TRENDS_CHANGE_POINTS_H_
#define DISTBENCH_PRODUCTS_HISTORY_TRENDS_CHANGE_POINTS_H_

#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace distbench::history {

// At most so many values are judged, the newest.
inline constexpr size_t kMaxJudgedPoints = 2000;

// The fewest values between two changes, and the fewest that are judged.
inline constexpr size_t kMinSegmentPoints = 5;
inline constexpr size_t kMinJudgedPoints = 2 * kMinSegmentPoints;

// The probability that any of the series that are judged together shows a
// change although there is none.
inline constexpr double kAlarmProbability = 0.05;

enum class ChangeKind {
  kLevel,   // the mean is another
  kSpread,  // the values spread more, or less, around their mean
};

// "level" or "spread".
absl::string_view ChangeKindName(ChangeKind kind);

struct ChangePoint {
  // Of the first value after the change.
  size_t index = 0;
  ChangeKind kind = ChangeKind::kLevel;

  // Mean (of a spread: standard deviation) of the segments before and after,
  // and after / before - 1; infinite, or 0, if `before` is 0.
  double before = 0;
  double after = 0;
  double relative = 0;

  // Corrected for all tests that were made: a change is reported if it is at
  // most kAlarmProbability.
  double p_value = 1;
};

// Values between two changes.
struct Segment {
  size_t first = 0;
  size_t last = 0;  // included
  double mean = 0;

  // Where about 95 % of the values are expected: the median and two robust
  // standard deviations (median absolute deviation) on either side.
  double noise_low = 0;
  double noise_high = 0;
};

struct Judgement {
  std::vector<ChangePoint> changes;  // ascending
  std::vector<Segment> segments;     // one more than changes; none of no values
};

// Finds changes of the values' distribution: E-divisive of D. S. Matteson and
// N. A. James, A Nonparametric Approach for Multiple Change Point Analysis of
// Multivariate Data, JASA 109 (2014) 334-345. The place that divides the values
// into the two most different parts, by their energy distance, is a change if
// fewer permutations of the values than the corrected probability allows reach
// this distance. Its parts are then examined in the same way. A second pass
// does so with the distances from each part's median, by SpreadScan instead of
// the energy distance: it tells changes of the spread alone. The passes share
// the probability of a false alarm.
//
// `series_count` is the number of series that are judged together, at least 1:
// the probability of a false alarm in any of them is at most kAlarmProbability
// (Bonferroni), if the results without change do not depend on each other.
// Values must be finite, and at most kMaxJudgedPoints. Fewer than
// kMinJudgedPoints have no changes. Deterministic.
Judgement FindChanges(absl::Span<const double> values, int series_count);

// The same judgement again, of changes that are already known with their
// p-values; their other fields are ignored.
Judgement DescribeChanges(absl::Span<const double> values,
                          std::vector<ChangePoint> changes);

// How two parts of a series differ.

// All require finite values, and at least one.
double MedianOf(absl::Span<const double> values);

// 0 of a single value.
double StandardDeviationOf(absl::Span<const double> values);

// The values' absolute differences from their median.
std::vector<double> DistancesFromMedian(absl::Span<const double> values);

// The p-value of the hypothesis that the means are equal: B. L. Welch, The
// Generalization of "Student's" Problem when Several Different Population
// Variances are Involved, Biometrika 34 (1947) 28-35. Parts have at least two
// values. Of parts without any spread, 1 if they are equal and 0 if not.
double MeansDiffer(absl::Span<const double> a, absl::Span<const double> b);

// The same for the spread: the means of the distances from the medians. M. B.
// Brown and A. B. Forsythe, Robust Tests for the Equality of Variances, JASA 69
// (1974) 364-367.
double SpreadsDiffer(absl::Span<const double> a, absl::Span<const double> b);

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_TRENDS_CHANGE_POINTS_H_
