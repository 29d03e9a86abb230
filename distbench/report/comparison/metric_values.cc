// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/comparison/metric_values.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/report/measurements/measure.h"
#include "distbench/stats/outcomes.h"

namespace distbench::report {
namespace {

// The reasons why a run has no value that can be compared.
absl::Status TooFewRpcs() { return absl::NotFoundError("too few RPCs"); }

absl::Status TooManyFailed(const stats::Outcomes& outcomes) {
  return absl::NotFoundError(absl::StrFormat("%.3g%% of the RPCs failed",
                                             100 * outcomes.failed_share()));
}

bool HasPolicy(const RpcMeasurements& rpc) { return rpc.attempts.has_value(); }

absl::StatusOr<double> ValueOf(const stats::Metric& metric,
                               const RpcMeasurements& rpc,
                               LatencyKind latency) {
  const stats::Outcomes& outcomes = rpc.latency(latency);
  if (!IsSupported(metric, rpc, latency)) return TooFewRpcs();
  const absl::StatusOr<Estimate> estimate = Measure(metric, rpc, latency);
  if (!estimate.ok()) return estimate.status();
  const bool leaves_out_too_many =
      metric.kind == stats::Metric::Kind::kMean &&
      estimate->failed_share > stats::kAllowedFailures;
  if (std::isinf(estimate->value) || leaves_out_too_many) {
    return TooManyFailed(outcomes);
  }
  if (stats::IsComparedByRatio(metric) && !(estimate->value > 0)) {
    return outcomes.failed_count > 0 ? TooManyFailed(outcomes) : TooFewRpcs();
  }
  return estimate->value;
}

}  // namespace

std::map<std::string, RpcRuns> RpcsOf(absl::Span<const TestRun> runs) {
  std::map<std::string, RpcRuns> rpcs;
  for (const TestRun& run : runs) {
    // Series are not compared.
    ForEachRpc(
        *run.result, /*max_intervals=*/1,
        [&](const RpcMeasurements& rpc) { rpcs[rpc.name].push_back(rpc); });
  }
  return rpcs;
}

LatencyKind LatencyOf(absl::Span<const RpcRuns* const> groups) {
  for (const RpcRuns* runs : groups) {
    for (const RpcMeasurements& rpc : *runs) {
      if (rpc.response_time.count() == 0) return LatencyKind::kService;
    }
  }
  return LatencyKind::kResponse;
}

absl::StatusOr<std::vector<double>> ValuesOf(absl::string_view group,
                                             const stats::Metric& metric,
                                             const RpcRuns& runs,
                                             LatencyKind latency) {
  std::vector<double> values;
  for (const RpcMeasurements& rpc : runs) {
    const absl::StatusOr<double> value = ValueOf(metric, rpc, latency);
    if (!value.ok()) {
      return absl::NotFoundError(
          absl::StrCat(value.status().message(), " in run ", values.size() + 1,
                       " of ", runs.size(), " of ", group));
    }
    values.push_back(*value);
  }
  return values;
}

std::vector<stats::Metric> MetricsOf(const std::vector<stats::Metric>& metrics,
                                     absl::Span<const RpcRuns* const> groups) {
  std::vector<stats::Metric> all = metrics;
  for (const RpcRuns* runs : groups) {
    if (!std::all_of(runs->begin(), runs->end(), HasPolicy)) return all;
  }
  for (const stats::Metric& metric : stats::PolicyMetrics()) {
    if (std::find(all.begin(), all.end(), metric) == all.end()) {
      all.push_back(metric);
    }
  }
  return all;
}

uint64_t CountRpcs(const RpcRuns& runs, LatencyKind latency) {
  uint64_t count = 0;
  for (const RpcMeasurements& rpc : runs) count += rpc.latency(latency).count();
  return count;
}

}  // namespace distbench::report
