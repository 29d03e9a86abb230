// Encodes, validates and merges time series and offered loads.

#ifndef DISTBENCH_RESULTS_TIME_SERIES_H_
#define DISTBENCH_RESULTS_TIME_SERIES_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "distbench/stats/interval_series.h"
#include "proto/results.pb.h"

namespace distbench::results {

// Replaces the content of `proto`.
void EncodeInterval(const stats::IntervalSeries::View& interval,
                    RpcInterval& proto);

// Encodes the sum of series with steps of kSeriesStepNs, in pieces of at most a
// few hundred kilobytes; emits nothing if there are no events.
void EncodeTimeSeries(absl::Span<const stats::IntervalSeries* const> series,
                      absl::FunctionRef<void(RpcTimeSeries piece)> emit);

// Adds an encoded series. INVALID_ARGUMENT if it is invalid or its intervals
// are not a multiple of a step; `series` is then unchanged.
absl::Status AddTimeSeries(const RpcTimeSeries& proto,
                           stats::IntervalSeries& series);

// Check that intervals ascend, counts are at least 0 and histograms are valid.
// INVALID_ARGUMENT describes the contradiction.
absl::Status ValidateTimeSeries(const RpcTimeSeries& series);
absl::Status ValidateOfferedLoad(const OfferedLoad& load);

// Merges neighbouring intervals so that each is interval_ns wide. Requires a
// valid series. Returns false, and changes nothing, if interval_ns is not a
// multiple of the present width.
bool WidenTimeSeries(int64_t interval_ns, RpcTimeSeries& series);

// Adds `from` to `into`, which must be empty or the result of such calls. If
// the widths differ, the result has the larger one. INVALID_ARGUMENT if `from`
// is invalid or neither width is a multiple of the other; `into` is then
// unchanged. Takes time only for the intervals of `from` if these are later
// than those of `into` or exist there already.
absl::Status MergeTimeSeries(RpcTimeSeries from, RpcTimeSeries& into);

// Adds `from` to `into`. INVALID_ARGUMENT if either is invalid; `into` is then
// unchanged.
absl::Status MergeOfferedLoad(const OfferedLoad& from, OfferedLoad& into);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_TIME_SERIES_H_
