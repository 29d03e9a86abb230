// Encodes, validates and merges the series of activities.
//
// An engine records such a series as an IntervalSeries, in the words of RPCs:
//
//   iterations that were due  offered         input bytes   request_bytes
//   iterations that ended     succeeded       output bytes  response_bytes
//   latencies of reads        service times   of writes     response times

#ifndef DISTBENCH_RESULTS_ACTIVITY_SERIES_H_
#define DISTBENCH_RESULTS_ACTIVITY_SERIES_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "distbench/stats/interval_series.h"
#include "proto/results.pb.h"

namespace distbench::results {

// Encodes a series with steps of kSeriesStepNs, in pieces of at most a few
// hundred kilobytes; emits nothing if there are no events.
void EncodeActivitySeries(const stats::IntervalSeries& series,
                          absl::FunctionRef<void(ActivitySeries piece)> emit);

// Checks that intervals ascend, that their times in nanoseconds fit 64 bits,
// that counts are at least 0 and histograms valid. INVALID_ARGUMENT describes
// the contradiction.
absl::Status ValidateActivitySeries(const ActivitySeries& series);

// Adds `from` to `into`, which must be empty or the result of such calls. If
// the widths differ, the result has the larger one. INVALID_ARGUMENT if `from`
// is invalid or neither width is a multiple of the other; `into` is then
// unchanged.
absl::Status MergeActivitySeries(ActivitySeries from, ActivitySeries& into);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_ACTIVITY_SERIES_H_
