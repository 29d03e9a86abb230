// When the traffic of an RPC began and ended.

#ifndef DISTBENCH_REPORT_MEASUREMENTS_TRAFFIC_SPAN_H_
#define DISTBENCH_REPORT_MEASUREMENTS_TRAFFIC_SPAN_H_

#include <cstdint>
#include <optional>

#include "distbench/report/measurements/rpc_series.h"
#include "distbench/results/rpc_totals.h"
#include "proto/results.pb.h"

namespace distbench::report {

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

#endif  // DISTBENCH_REPORT_MEASUREMENTS_TRAFFIC_SPAN_H_
