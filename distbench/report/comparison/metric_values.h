// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The values of metrics in each run of a group.

#ifndef DISTBENCH_REPORT_COMPARISON_METRIC_VALUES_H_
#define DISTBENCH_REPORT_COMPARISON_METRIC_VALUES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/run_metrics.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/stats/metric.h"

namespace distbench::report {

// One RPC in the runs of a group; runs without the RPC are left out.
using RpcRuns = std::vector<RpcMeasurements>;

// Returns the RPCs of the runs, by name.
std::map<std::string, RpcRuns> RpcsOf(absl::Span<const TestRun> runs);

// The kind of latency that is compared: response times if all of the runs have
// them.
LatencyKind LatencyOf(absl::Span<const RpcRuns* const> groups);

// Returns the value of the metric in each run: in nanoseconds, per second, or a
// share from 0 to 1. All values are finite, and positive if the metric is
// compared by ratio. NOT_FOUND says which run has no value, and why; `group` is
// the name of the group in this message.
absl::StatusOr<std::vector<double>> ValuesOf(absl::string_view group,
                                             const stats::Metric& metric,
                                             const RpcRuns& runs,
                                             LatencyKind latency);

// Returns `metrics` and, of RPCs that have a policy in all of the runs, those
// of PolicyMetrics() that are not among them.
std::vector<stats::Metric> MetricsOf(const std::vector<stats::Metric>& metrics,
                                     absl::Span<const RpcRuns* const> groups);

// The number of RPCs in all of the runs.
uint64_t CountRpcs(const RpcRuns& runs, LatencyKind latency);

// Metrics of whole runs.

// Metrics of runs are the same if they are called the same: their unit is one
// of the things in which runs may differ.
bool IsOfSameName(const stats::Metric& one, const stats::Metric& other);

// What tables call them together.
inline constexpr char kRunMetricsTitle[] = "metrics of the test";

// Those of each run of a group.
using RunMetricsOfRuns = std::vector<std::vector<RunMetric>>;

RunMetricsOfRuns RunMetricsOf(absl::Span<const TestRun> runs);

// Returns those that any of the runs has, in order of appearance.
std::vector<stats::Metric> RunMetricsIn(
    absl::Span<const RunMetricsOfRuns* const> groups);

// Returns the value of the metric in each run. NOT_FOUND says which run has
// none, and why.
absl::StatusOr<std::vector<double>> ValuesOf(absl::string_view group,
                                             const stats::Metric& metric,
                                             const RunMetricsOfRuns& runs);

// Says what the metric is in the first run of base, and in the first run that
// does not agree with it, of base or of the other group; empty if all do. All
// runs have it, and base has at least one.
std::string DefinitionDifference(const stats::Metric& metric,
                                 const RunMetricsOfRuns& base,
                                 absl::string_view group,
                                 const RunMetricsOfRuns& runs);

// Says of how many runs of the group a part of the metric's readings is
// missing, and what of the first one; empty if none.
std::string RemarkOn(absl::string_view group, const stats::Metric& metric,
                     const RunMetricsOfRuns& runs);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_COMPARISON_METRIC_VALUES_H_
