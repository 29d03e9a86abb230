// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Changes in a series of results: from when on the values are others.

#ifndef DISTBENCH_PRODUCTS_HISTORY_TRENDS_CHANGE_POINTS_H_
#define DISTBENCH_PRODUCTS_HISTORY_TRENDS_CHANGE_POINTS_H_

#include <cstddef>

#include "absl/types/span.h"
#include "distbench/products/history/history.pb.h"

namespace distbench::history {

// At most so many values are judged, the newest.
inline constexpr size_t kMaxJudgedPoints = 300;

// The fewest values between two changes, and the fewest that are judged.
inline constexpr size_t kMinSegmentPoints = 5;
inline constexpr size_t kMinJudgedPoints = 2 * kMinSegmentPoints;

// A series is judged anew with each value that it gets. The probability that
// any of the series that are judged together shows a change, at any of kLooks
// such looks in a row, although there is none.
inline constexpr double kAlarmProbability = 0.05;
inline constexpr int kLooks = 200;

// Finds changes of the values' level, and describes the segments between them:
// the trend that is returned has nothing else. E-divisive of D. S. Matteson and
// N. A. James, A Nonparametric Approach for Multiple Change Point Analysis of
// Multivariate Data, JASA 109 (2014) 334-345. The place that divides the values
// into the two most different parts, by their energy distance, is a change if
// random orders of the values are never divided as clearly, and would be so
// with a corrected probability of at most kAlarmProbability. Its parts are then
// examined in the same way.
//
// That probability is far below one in the number of orders that can be tried.
// It is extrapolated from the most divided of them, whose distances beyond a
// threshold are taken for exponential: T. A. Knijnenburg and others, Fewer
// Permutations, More Accurate P-values, Bioinformatics 25 (2009) i161-i168.
//
// `series_count` is the number of series that are judged together, at least 1.
// Probabilities are multiplied by it and by kLooks (Bonferroni); that holds if
// the values of a series without change do not depend on each other. Values
// must be finite, and at most kMaxJudgedPoints. Fewer than kMinJudgedPoints
// have no changes. Deterministic.
Trend FindChanges(absl::Span<const double> values, int series_count);

}  // namespace distbench::history

#endif  // DISTBENCH_PRODUCTS_HISTORY_TRENDS_CHANGE_POINTS_H_
