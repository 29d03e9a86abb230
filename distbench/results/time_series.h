// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Encodes, validates and merges series over time of RPCs and of activities, and
// offered loads.
//
// An engine records the series of an activity in the words of RPCs:
//
//   iterations that were due  offered         input bytes   request_bytes
//   iterations that ended     succeeded       output bytes  response_bytes
//   latencies of reads        service times   of writes     response times

#ifndef DISTBENCH_RESULTS_TIME_SERIES_H_
#define DISTBENCH_RESULTS_TIME_SERIES_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "distbench/stats/interval_series.h"
#include "proto/results.pb.h"

namespace distbench::results {

// Encode the sum of series with steps of kSeriesStepNs, in pieces of at most a
// few hundred kilobytes; emit nothing if there are no events.
void EncodeTimeSeries(absl::Span<const stats::IntervalSeries* const> series,
                      absl::FunctionRef<void(RpcTimeSeries piece)> emit);
void EncodeActivitySeries(const stats::IntervalSeries& series,
                          absl::FunctionRef<void(ActivitySeries piece)> emit);

// Adds the counts of a valid interval.
void AddCounts(const RpcInterval& interval, stats::IntervalCounts& counts);

// Adds an encoded series. INVALID_ARGUMENT if it is invalid or its intervals
// are not a multiple of a step; `series` is then unchanged.
absl::Status AddTimeSeries(const RpcTimeSeries& proto,
                           stats::IntervalSeries& series);

// Check that intervals ascend, counts are at least 0 and histograms are valid;
// of activities, also that times in nanoseconds fit 64 bits. INVALID_ARGUMENT
// describes the contradiction.
absl::Status ValidateTimeSeries(const RpcTimeSeries& series);
absl::Status ValidateActivitySeries(const ActivitySeries& series);

// Add `from` to `into`, which must be empty or the result of such calls. If the
// widths differ, the result has the larger one. INVALID_ARGUMENT if `from` is
// invalid or neither width is a multiple of the other; `into` is then
// unchanged. Take time only for the intervals of `from` if these are later than
// those of `into` or exist there already: series arrive in pieces, in order.
absl::Status MergeTimeSeries(RpcTimeSeries from, RpcTimeSeries& into);
absl::Status MergeActivitySeries(ActivitySeries from, ActivitySeries& into);

// Adds `from` to `into`. INVALID_ARGUMENT if either is invalid; `into` is then
// unchanged.
absl::Status MergeOfferedLoad(const OfferedLoad& from, OfferedLoad& into);

}  // namespace distbench::results

#endif  // DISTBENCH_RESULTS_TIME_SERIES_H_
