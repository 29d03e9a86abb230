// One RPC over time, over all its clients.

#ifndef DISTBENCH_REPORT_MEASUREMENTS_RPC_SERIES_H_
#define DISTBENCH_REPORT_MEASUREMENTS_RPC_SERIES_H_

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "distbench/stats/log_histogram.h"
#include "distbench/stats/outcomes.h"
#include "proto/results.pb.h"

namespace distbench::report {

// Like RpcInterval of the result, which documents the fields.
struct IntervalTotals {
  int64_t offered_count = 0;
  int64_t sent_count = 0;
  int64_t succeeded_count = 0;
  int64_t failed_count = 0;
  int64_t warmup_count = 0;
  int64_t request_bytes = 0;
  int64_t response_bytes = 0;
  int64_t attempt_count = 0;
  stats::LogHistogram service_time_ns;
  stats::LogHistogram response_time_ns;
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

// Return the blocks of the series for quantile intervals (see
// stats/quantile_interval.h), excluding intervals that contain warm-up. RPCs
// that were never sent belong to no interval.
std::vector<stats::Outcomes> ServiceTimeBlocks(const RpcSeries& series);
std::vector<stats::Outcomes> ResponseTimeBlocks(const RpcSeries& series);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_RPC_SERIES_H_
