// Goodput: what callers got in time.
//
// A request is goodput if it succeeded and, where its RPC has a deadline, took
// at most that long: from its intended send in open loops, otherwise from its
// send. Only the former can differ from all that succeeded, because calls that
// exceed their deadline after the send fail.

#ifndef DISTBENCH_REPORT_MEASUREMENTS_GOODPUT_H_
#define DISTBENCH_REPORT_MEASUREMENTS_GOODPUT_H_

#include <cstdint>
#include <optional>

#include "distbench/report/measurements/rpc_series.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/stats/log_histogram.h"
#include "proto/results.pb.h"

namespace distbench::report {

// The deadline of an RPC; nothing if it has none.
std::optional<int64_t> DeadlineOf(const TestResult& result, int rpc_index);

// Returns the requests among those that succeeded which were in time, as exact
// as the histograms. response_time_ns is empty in closed loops.
int64_t GoodputOf(int64_t succeeded_count,
                  const stats::LogHistogram& response_time_ns,
                  std::optional<int64_t> deadline_ns);

// Returns how long an RPC's requests were sent and measured, in nanoseconds:
// from the end of the warm-up to the end of the last interval in which requests
// were due or sent, or the end of the run therein. Unlike the time between the
// first and the last success, this includes a time without any. Without a
// series, that time; 0 if nothing succeeded.
int64_t MeasuredNs(const TestResult& result, int rpc_index,
                   const results::RpcCounts& counts);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_GOODPUT_H_
