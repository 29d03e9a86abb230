// How two parts of a series differ.

#ifndef DISTBENCH_PRODUCTS_HISTORY_TRENDS_PART_COMPARISON_H_
#define DISTBENCH_PRODUCTS_HISTORY_TRENDS_PART_COMPARISON_H_

#include <vector>

#include "absl/types/span.h"

namespace distbench::history {

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

#endif  // DISTBENCH_PRODUCTS_HISTORY_TRENDS_PART_COMPARISON_H_
