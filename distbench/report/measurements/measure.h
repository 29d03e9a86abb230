// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Measures metrics of a run: the value of each, and the interval in which it
// lies. Whatever judges, compares or keeps metrics takes them from here.
//
//   RpcMeasurements ── Measure ──▶ Estimate ──▶ objectives, searches, gates,
//                                               stacks, histories

#ifndef DISTBENCH_REPORT_MEASUREMENTS_MEASURE_H_
#define DISTBENCH_REPORT_MEASUREMENTS_MEASURE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/stats/metric.h"
#include "distbench/stats/outcomes.h"
#include "proto/results.pb.h"

namespace distbench::report {

// Half the width of a 95 % confidence interval of a normal distribution, in
// standard errors.
inline constexpr double kErrorsPerInterval = 1.96;

// The assumed relative error if an interval is open-ended or if nothing is
// known about the dependence of RPCs on each other: a quarter of the value.
inline constexpr double kUnknownError = 0.25;

struct Estimate {
  // In the unit of the metric. Infinite for a time that falls among failures.
  double value = 0;

  // The confidence interval at kReportConfidence. Absent if there is no bound
  // on that side, infinite if RPCs failed there.
  std::optional<double> lower = {};
  std::optional<double> upper = {};

  // The standard error of the value's logarithm.
  double log_error = 0;

  // Whether the interval takes what was measured for independent of each other,
  // because too few seconds tell by how much it is not. It is then too narrow
  // wherever slow requests, or failures, come together.
  bool is_of_independent = false;

  // The share of what was measured that failed and so has no time, or is no
  // part of the rate. 0 for metrics that count what failed.
  double failed_share = 0;

  // Whether the latencies of the RPC were still growing: a longer run would
  // have measured more. See HasGrown().
  bool has_grown = false;
};

// Measures a metric of an RPC. `kind` is what its latencies are. NOT_FOUND says
// why it has none, such as that nothing ended; of metrics that are not of RPCs
// as well.
//
// RPCs that failed, expired or were never sent rank above all that succeeded: a
// percentile that falls among them is infinite, and so is a mean of none. Means
// and rates are of those that succeeded.
//
// Latencies and failures of neighbouring RPCs depend on each other, so
// intervals come from the spread between blocks of at least a second. A run
// that is too short for blocks has an interval that takes RPCs for independent,
// and says so; the error of its latencies is at least kUnknownError.
//
// Rates come with the spread between whole intervals of the series, and with
// the requests in flight at both ends of the measured time: a load that was
// sent evenly has a narrow interval, and one that stalled a wide one. In open
// loops, the spread is that of the share of what was due, because a plan that
// varies (cycles, bursts) is no error. The rate of one request has no bounds.
//
// Times of attempts, of quorums and of messages have no series. There are as
// many independent ones as requests, or as streams, and their error is at least
// kUnknownError. Streams that failed or were never sent count with as many
// messages as those that succeeded.
absl::StatusOr<Estimate> Measure(const stats::Metric& metric,
                                 const RpcMeasurements& rpc, LatencyKind kind);

// Whether the RPC's latencies are enough for the metric: at least one is
// expected above a percentile. Reports have no others, whose upper bounds are
// unknown in any case.
bool IsSupported(const stats::Metric& metric, const RpcMeasurements& rpc,
                 LatencyKind kind);

// Measures the CPU time of the busiest host after the warm-up, as a share of
// all its CPUs, with the spread between its seconds. NOT_FOUND if no node has
// recorded it.
absl::StatusOr<Estimate> MeasureHostCpu(const TestResult& result,
                                        const TestTotals& totals);

// Whether the mean latencies of consecutive blocks grew (stats::HasRisen()).
// False for fewer than stats::kMinBlocks with latencies.
//
// A queue that starts empty approaches its steady latency from below, and that
// of an overloaded system has none. Such a run measures less than a longer one.
bool HasGrown(absl::Span<const stats::Outcomes> blocks);

// Returns "12.3 ms", "1000" or "0.1%", with the digits by which it is judged.
std::string ValueText(stats::MetricUnit unit, double value);

// Returns "p95 12.3 ms, 3.1% failed" or, if the time is infinite, "p95 failed
// (10% of the RPCs failed)".
std::string EstimateText(const stats::Metric& metric, const Estimate& estimate);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_MEASURE_H_
