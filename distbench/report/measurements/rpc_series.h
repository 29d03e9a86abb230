// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// One RPC over time, over all its clients.

#ifndef DISTBENCH_REPORT_MEASUREMENTS_RPC_SERIES_H_
#define DISTBENCH_REPORT_MEASUREMENTS_RPC_SERIES_H_

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/stats/interval_series.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/outcomes.h"
#include "proto/results.pb.h"

namespace distbench::report {

// What the latency of an RPC is.
enum class LatencyKind { kService, kResponse };

// Returns "service time" or "response time".
absl::string_view LatencyName(LatencyKind kind);

// Like RpcInterval of the result, which documents the fields.
struct IntervalTotals : stats::IntervalCounts {
  stats::LogHistogram service_time_ns;
  stats::LogHistogram response_time_ns;

  const stats::LogHistogram& latency_ns(LatencyKind kind) const {
    return kind == LatencyKind::kResponse ? response_time_ns : service_time_ns;
  }
};

struct RpcSeries {
  // Width of an interval; 0 if nothing was recorded over time.
  int64_t interval_ns = 0;

  // Key: the number of the interval, which starts at that multiple of
  // interval_ns after the Unix epoch. Contains intervals with events only.
  std::map<int64_t, IntervalTotals> intervals;

  // Client instances that are left out because their series are inconsistent,
  // or have intervals that do not fit into those of others.
  int left_out_count = 0;
};

// Returns whether the series is consistent, and its times in nanoseconds fit 64
// bits.
bool HasValidTimes(const RpcTimeSeries& series);

// Adds up the clients' series of the RPC, in intervals of the widest series.
// Merges neighbouring intervals until at most about max_intervals are left.
RpcSeries CollectSeries(
    const TestResult& result, int rpc_index,
    int64_t max_intervals = std::numeric_limits<int64_t>::max());

// Whether any of the RPC is of open loops: such RPCs are due at a time.
bool IsOpenLoop(const RpcSeries& series);

// Returns the blocks of the series for quantile intervals (see
// stats/quantile_interval.h), excluding intervals that contain warm-up. RPCs
// that were never sent belong to no interval.
std::vector<stats::Outcomes> LatencyBlocks(const RpcSeries& series,
                                           LatencyKind kind);

// The load of one RPC over time: what was offered, attempted and served.

// One interval of the RPC's series; see RpcInterval of the result.
struct LoadInterval {
  int64_t begin_ns = 0;  // Unix time
  int64_t offered = 0;
  int64_t sent = 0;
  int64_t attempts = 0;
  int64_t goodput = 0;  // see rpc_measurements.h
  bool is_warmup = false;

  // Of the requests that ended, by response time in open loops, otherwise by
  // service time. Outcomes::kFailed among failures, and if none ended.
  int64_t median_ns = 0;
};

struct LoadCurve {
  int64_t interval_ns = 0;

  // Consecutive. Only those that traffic covers as a whole: without the first
  // and the last in which requests were due (in closed loops, sent), and
  // without those after them, in which late requests ended.
  std::vector<LoadInterval> intervals = {};

  bool is_open_loop = false;
};

// Returns the curve over all clients of the RPC. In runs of more than 10,000
// intervals, neighbouring ones are merged.
LoadCurve LoadCurveOf(const TestResult& result, int rpc_index);

// When the traffic of an RPC began and ended.

// In Unix nanoseconds, warm-up included.
struct TrafficSpan {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

// Returns the span of the RPC's series, which tells how much of its first and
// last interval the traffic covers. Its bounds are those of the RPC or else of
// the run, if they lie in these intervals; otherwise the interval's bound is
// returned, as if the traffic covered all of it. Nothing if the series is
// empty.
std::optional<TrafficSpan> SpanOfTraffic(const RunInfo& run_info,
                                         const results::RpcCounts& counts,
                                         const RpcSeries& series);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_RPC_SERIES_H_
