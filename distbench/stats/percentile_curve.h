// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Cumulative distributions for plots.

#ifndef DISTBENCH_STATS_PERCENTILE_CURVE_H_
#define DISTBENCH_STATS_PERCENTILE_CURVE_H_

#include <cstdint>
#include <vector>

#include "distbench/stats/log_histogram.h"

namespace distbench::stats {

// A point of a cumulative distribution, as plots and the percentile format of
// HdrHistogram have them.
struct CurvePoint {
  int64_t value;

  // The exact number of values that are at most `value`.
  uint64_t count_at_most;
};

// Returns points of the cumulative distribution, ascending; the last point
// covers all values. Points become denser towards the maximum: there are
// points_per_halving (at least 1) of them for each halving of the share of
// values above. Empty if the histogram is empty.
std::vector<CurvePoint> PercentileCurve(const LogHistogram& histogram,
                                        int points_per_halving);

}  // namespace distbench::stats

#endif  // DISTBENCH_STATS_PERCENTILE_CURVE_H_
