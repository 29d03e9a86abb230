// The load of one RPC over time: what was offered, attempted and served.

#ifndef DISTBENCH_REPORT_MEASUREMENTS_LOAD_CURVE_H_
#define DISTBENCH_REPORT_MEASUREMENTS_LOAD_CURVE_H_

#include <cstdint>
#include <vector>

#include "distbench/report/measurements/rpc_series.h"
#include "proto/results.pb.h"

namespace distbench::report {

// One interval of the RPC's series; see RpcInterval of the result.
struct LoadInterval {
  int64_t begin_ns = 0;  // Unix time
  int64_t offered = 0;
  int64_t sent = 0;
  int64_t attempts = 0;
  int64_t goodput = 0;  // see goodput.h
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

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_LOAD_CURVE_H_
