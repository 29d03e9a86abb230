// Confidence intervals over the runs of one system. The unit is the run: what
// was measured within a run is not independent.

#ifndef DISTBENCH_STATS_RUN_INTERVAL_H_
#define DISTBENCH_STATS_RUN_INTERVAL_H_

#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "distbench/stats/welch_interval.h"

namespace distbench::stats {

// Returns Student's t interval of the mean of the runs' values, which are
// finite. Absent for fewer than two runs, which say nothing about the spread.
std::optional<Interval> IntervalOfMean(absl::Span<const double> runs,
                                       double confidence);

// The bounds of a bootstrap are at best the lowest and the highest run. These
// enclose a median with a probability of 1 - 2^(1 - n), which reaches 95 % with
// six runs.
inline constexpr int kFewestBootstrapRuns = 6;

// Returns the percentile interval of the bootstrap (B. Efron, Bootstrap
// methods: another look at the jackknife, Annals of Statistics 7, 1979, 1-26)
// of a quantile of all runs' values together: whole runs are drawn with
// replacement. Values may be infinite, but not NaN; so may the bounds be. Equal
// runs have equal intervals: the draws are always the same. Absent for fewer
// than kFewestBootstrapRuns runs with values.
std::optional<Interval> IntervalOfPooledQuantile(
    absl::Span<const std::vector<double>> runs, double quantile,
    double confidence);

}  // namespace distbench::stats

#endif  // DISTBENCH_STATS_RUN_INTERVAL_H_
