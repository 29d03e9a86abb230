// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// All measurements of one RPC that reports show.

#ifndef DISTBENCH_REPORT_MEASUREMENTS_RPC_MEASUREMENTS_H_
#define DISTBENCH_REPORT_MEASUREMENTS_RPC_MEASUREMENTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/rpc_series.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/outcomes.h"
#include "distbench/stats/quantile_interval.h"
#include "proto/results.pb.h"

namespace distbench::report {

// The attempts of RPCs with a policy (CallPolicy), over all clients.
//
//   PolicyStatistics of each client ──AddUp──▶ their sum
//     ──Amplification, WastedShare──▶ text, tables, objectives, comparisons

// Returns the attempts per request; nothing if no request ended.
std::optional<double> Amplification(const PolicyStatistics& attempts);

// Returns which share of the attempts was for nothing: those that failed, that
// the caller gave up, or that succeeded after the request had its outcome.
// Nothing if there were no attempts. `succeeded_count`: of the requests.
std::optional<double> WastedShare(const PolicyStatistics& attempts,
                                  int64_t succeeded_count);

// Goodput: what callers got in time.
//
// A request is goodput if it succeeded and, where its RPC has a deadline, took
// at most that long: from its intended send in open loops, otherwise from its
// send. Only the former can differ from all that succeeded, because calls that
// exceed their deadline after the send fail.

// The deadline of an RPC; nothing if it has none.
std::optional<int64_t> DeadlineOf(const TestResult& result, int rpc_index);

// Returns the requests among those that succeeded which were in time, as exact
// as the histograms. response_time_ns is empty in closed loops.
int64_t GoodputOf(int64_t succeeded_count,
                  const stats::LogHistogram& response_time_ns,
                  std::optional<int64_t> deadline_ns);

// Returns how long an RPC's requests were sent and measured, in nanoseconds:
// from the end of the warm-up, or the first send of those that are measured if
// that is earlier (or there was no warm-up), to the end of the last interval in
// which requests were due or sent, or the end of the run therein. Unlike the
// time between the first and the last success, this includes a time without
// any. Without a series, that time; 0 if nothing succeeded.
int64_t MeasuredNs(const TestResult& result, int rpc_index,
                   const results::RpcCounts& counts);

// The offered load: what open loops should have sent, whatever became of it.

// Returns for how long requests were due, without the warm-up: MeasuredNs(),
// but not the time in which late ones were still sent.
int64_t OfferedNs(const TestResult& result, int rpc_index,
                  const results::RpcCounts& counts);

// Returns the requests of the load that were due per second of OfferedNs();
// nothing if none were. Not per second until the last one ended: an overloaded
// system would seem to be offered what it could carry.
std::optional<double> OfferedPerSecond(const OfferedLoad& load,
                                       int64_t offered_ns);

// One of the parts into which the time of an RPC divides, or of the times of
// its messages.
struct NamedTimes {
  absl::string_view name;
  stats::LogHistogram times_ns;  // not empty
};

// Returns the parts in the order in which an RPC passes through them:
// "lateness" (the wait in the client, for open loops only), "network",
// "server_queue" and "server_handler". Empty if no server reported its parts.
std::vector<NamedTimes> TimePartsOf(const results::RpcTotals& totals);

// Returns those of "first_message", "gap", "round_trip", "client_blocked" and
// "server_blocked" that have values.
std::vector<NamedTimes> StreamTimesOf(const StreamStatistics& streams);

// Returns the histogram of a part, which may be empty.
const stats::LogHistogram& TimesOf(const results::RpcTotals& totals,
                                   results::TimePart part);

// Confidence level of all intervals in reports.
inline constexpr double kReportConfidence = 0.95;

struct RpcMeasurements {
  std::string name;
  results::RpcTotals totals;

  // Keyed by cause.
  std::map<std::string, int64_t> failures;

  // Absent in closed loops, and in results that do not record it.
  std::optional<OfferedLoad> offered;

  // See OfferedPerSecond().
  std::optional<double> offered_per_second;

  // Absent if the RPC does not stream.
  std::optional<StreamStatistics> streams;

  // Absent if the RPC has no policy.
  std::optional<PolicyStatistics> attempts;

  // See DeadlineOf().
  std::optional<int64_t> deadline_ns;
  int64_t measured_ns = 0;

  // Outcomes by service time.
  stats::Outcomes service_time;

  // Outcomes by response time; see ResponseTimeOf().
  stats::Outcomes response_time;
  RpcSeries series;

  // Absent if there is no series.
  std::optional<TrafficSpan> traffic;

  const stats::Outcomes& latency(LatencyKind kind) const;

  // The latency that a caller experiences: response times in open loops,
  // otherwise service times.
  LatencyKind latency_kind() const;
  const stats::Outcomes& latency() const { return latency(latency_kind()); }

  // Requests that succeeded in time; and per second of the time in which they
  // were measured, 0 if there is none.
  int64_t goodput_count() const;
  double goodput_per_second() const;
};

// The most intervals from which confidence intervals are measured, so that all
// formats and objectives have the same: their blocks are of many intervals.
inline constexpr int64_t kMeasuredIntervals = 1000;

// `totals` must belong to the result. max_intervals is the argument of
// CollectSeries(): kMeasuredIntervals where errors or intervals are wanted.
RpcMeasurements MeasurementsOf(const TestResult& result,
                               const TestTotals& totals, int rpc_index,
                               int64_t max_intervals);

// Visits all RPCs of ListRpcs() so.
void ForEachRpc(const TestResult& result, int64_t max_intervals,
                absl::FunctionRef<void(const RpcMeasurements& rpc)> visit);

// An estimated percentile of a latency.
struct Percentile {
  double percent;
  int64_t value_ns;  // or Outcomes::kFailed
  stats::QuantileInterval interval;
};

// `blocks` cover consecutive requests and may be empty.
Percentile EstimatePercentile(const stats::Outcomes& outcomes,
                              absl::Span<const stats::Outcomes> blocks,
                              double percent);

// Returns the percentiles of which reports show the intervals, ascending, up to
// those that the number of requests supports.
std::vector<Percentile> EstimatePercentiles(
    const stats::Outcomes& outcomes,
    const std::vector<stats::Outcomes>& blocks);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_RPC_MEASUREMENTS_H_
