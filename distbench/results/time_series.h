// Encodes, validates and merges time series and offered loads.

#ifndef DISTBENCH_RESULTS_TIME_SERIES_H_
#define DISTBENCH_RESULTS_TIME_SERIES_H_

#include "absl/status/status.h"
#include "distbench/stats/interval_series.h"
#include "proto/results.pb.h"

namespace distbench {

// Replaces the content of `proto`.
void EncodeInterval(const IntervalSeries::View& interval, RpcInterval& proto);

// Checks that intervals ascend, counts are at least 0 and histograms are valid.
// INVALID_ARGUMENT explains the contradiction.
absl::Status ValidateTimeSeries(const RpcTimeSeries& series);
absl::Status ValidateOfferedLoad(const OfferedLoad& load);

// Adds `from` to `into`, which is empty or what this has made. INVALID_ARGUMENT
// if `from` is not valid, or has intervals of another width; `into` is unchanged
// then. Takes time for the intervals of `from` only, if they are later than those
// of `into` or there already.
absl::Status MergeTimeSeries(RpcTimeSeries from, RpcTimeSeries& into);

// Adds `from` to `into`. INVALID_ARGUMENT if either is not valid; `into` is
// unchanged then.
absl::Status MergeOfferedLoad(const OfferedLoad& from, OfferedLoad& into);

}  // namespace distbench

#endif  // DISTBENCH_RESULTS_TIME_SERIES_H_
