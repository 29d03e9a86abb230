// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The median of a few numbers; that of many is a histogram's.

#ifndef DISTBENCH_STATS_MEDIAN_H_
#define DISTBENCH_STATS_MEDIAN_H_

#include <vector>

namespace distbench::stats {

// These require at least one value, and no NaN.

// Of two values in the middle, their mean.
double Median(std::vector<double> values);

// Of two values in the middle, the lower one: a value that was measured, and
// one that at least half of the others reach.
double LowMedian(std::vector<double> values);

}  // namespace distbench::stats

#endif  // DISTBENCH_STATS_MEDIAN_H_
