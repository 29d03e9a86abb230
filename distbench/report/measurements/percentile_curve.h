// A distribution as a line: for plots and for HdrHistogram's percentile format.

#ifndef DISTBENCH_REPORT_MEASUREMENTS_PERCENTILE_CURVE_H_
#define DISTBENCH_REPORT_MEASUREMENTS_PERCENTILE_CURVE_H_

#include <cstdint>
#include <vector>

#include "distbench/stats/log_histogram.h"

namespace distbench {

struct CurvePoint {
  int64_t value;

  // How many values are at most `value`. Exact.
  uint64_t count_at_most;
};

// Points of the cumulative distribution, ascending; the last one has all
// values. They lie ever closer to the maximum: points_per_halving (at least 1)
// of them each time that the share of values above is halved. Empty if the
// histogram is.
std::vector<CurvePoint> PercentileCurve(const LogHistogram& histogram,
                                        int points_per_halving);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_MEASUREMENTS_PERCENTILE_CURVE_H_
