// Encodes, validates and merges time series and offered loads.

#ifndef DISTBENCH_RESULTS_TIME_SERIES_H_
#define DISTBENCH_RESULTS_TIME_SERIES_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "distbench/stats/interval_series.h"
#include "proto/results.pb.h"

namespace distbench {

// Replaces the content of `proto`.
void EncodeInterval(const IntervalSeries::View& interval, RpcInterval& proto);

// The sum of series of steps of kSeriesStepNs, in pieces of some hundred
// kilobytes at most; none if nothing happened.
void EncodeTimeSeries(absl::Span<const IntervalSeries* const> series,
                      absl::FunctionRef<void(RpcTimeSeries piece)> emit);

// Adds an encoded series. INVALID_ARGUMENT if it is not valid, or has intervals
// that are no multiple of a step; `series` is unchanged then.
absl::Status AddTimeSeries(const RpcTimeSeries& proto, IntervalSeries& series);

// Whether intervals ascend, counts are at least 0 and histograms are valid. The
// error (INVALID_ARGUMENT) says what contradicts what.
absl::Status ValidateTimeSeries(const RpcTimeSeries& series);
absl::Status ValidateOfferedLoad(const OfferedLoad& load);

// Puts neighbouring intervals together, so that they are interval_ns wide.
// Requires a valid series; false, and nothing happens, if interval_ns is no
// multiple of the width that they have.
bool WidenTimeSeries(int64_t interval_ns, RpcTimeSeries& series);

// Adds `from` to `into`, which is empty or what this has made; series of
// different widths get the larger one. INVALID_ARGUMENT if `from` is not valid,
// or if one width is no multiple of the other; `into` is unchanged then. Takes
// time for the intervals of `from` only, if they are later than those of `into`
// or there already.
absl::Status MergeTimeSeries(RpcTimeSeries from, RpcTimeSeries& into);

// Adds `from` to `into`. INVALID_ARGUMENT if either is not valid; `into` is
// unchanged then.
absl::Status MergeOfferedLoad(const OfferedLoad& from, OfferedLoad& into);

}  // namespace distbench

#endif  // DISTBENCH_RESULTS_TIME_SERIES_H_
