// One RPC over time, for all its clients together.

#ifndef DISTBENCH_REPORT_MEASUREMENTS_RPC_SERIES_H_
#define DISTBENCH_REPORT_MEASUREMENTS_RPC_SERIES_H_

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "distbench/stats/log_histogram.h"
#include "distbench/stats/outcomes.h"
#include "proto/results.pb.h"

namespace distbench {

// Like RpcInterval of the result, which documents the fields.
struct IntervalTotals {
  int64_t offered_count = 0;
  int64_t sent_count = 0;
  int64_t succeeded_count = 0;
  int64_t failed_count = 0;
  int64_t warmup_count = 0;
  int64_t request_bytes = 0;
  int64_t response_bytes = 0;
  LogHistogram service_time_ns;
  LogHistogram response_time_ns;
};

struct RpcSeries {
  // Width of an interval; 0 if nothing was recorded over time.
  int64_t interval_ns = 0;

  // Key: number of the interval; it starts interval_ns times that after the
  // Unix epoch. Those in which anything happened.
  std::map<int64_t, IntervalTotals> intervals;

  // Client instances that are left out, as their series contradict themselves
  // or have intervals that do not fit into those of others.
  int left_out_count = 0;
};

// Adds up the clients' series of the RPC, in intervals as wide as those of the
// widest. Puts as many neighbouring ones together as it takes to have at most
// about max_intervals of them.
RpcSeries CollectSeries(
    const TestResult& result, int rpc_index,
    int64_t max_intervals = std::numeric_limits<int64_t>::max());

// The blocks of the series for the interval of a quantile (see
// stats/quantile_interval.h), without the intervals that have warm-up in them.
// RPCs that were never sent belong to no interval.
std::vector<Outcomes> ServiceTimeBlocks(const RpcSeries& series);
std::vector<Outcomes> ResponseTimeBlocks(const RpcSeries& series);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_MEASUREMENTS_RPC_SERIES_H_
