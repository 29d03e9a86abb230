// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/comparison/metric_values.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

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
  return absl::NotFoundError(absl::StrFormat("%.3g %% of the RPCs failed",
                                             100 * outcomes.failed_share()));
}

// " in run 1 of 5 of base".
std::string InRun(size_t index, size_t count, absl::string_view group) {
  return absl::StrCat(" in run ", index + 1, " of ", count, " of ", group);
}

template <typename Runs, typename ValueOfRun>
absl::StatusOr<std::vector<double>> ValuesIn(absl::string_view group,
                                             const Runs& runs,
                                             const ValueOfRun& value_of) {
  std::vector<double> values;
  for (const auto& run : runs) {
    const absl::StatusOr<double> value = value_of(run);
    if (!value.ok()) {
      return absl::NotFoundError(absl::StrCat(
          value.status().message(), InRun(values.size(), runs.size(), group)));
    }
    values.push_back(*value);
  }
  return values;
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
  return ValuesIn(group, runs, [&](const RpcMeasurements& rpc) {
    return ValueOf(metric, rpc, latency);
  });
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

// ---- Metrics of whole runs --------------------------------------------------

namespace {

// Null if the run does not have it.
const RunMetric* Find(const stats::Metric& metric,
                      const std::vector<RunMetric>& run) {
  const auto found =
      std::find_if(run.begin(), run.end(), [&](const RunMetric& other) {
        return IsOfSameName(other.metric, metric);
      });
  return found == run.end() ? nullptr : &*found;
}

absl::StatusOr<double> ValueOf(const stats::Metric& metric,
                               const std::vector<RunMetric>& run) {
  const RunMetric* const found = Find(metric, run);
  if (found == nullptr) return absl::NotFoundError("it is not measured");
  if (!found->estimate.ok()) return found->estimate.status();
  return found->estimate->value;
}

}  // namespace

bool IsOfSameName(const stats::Metric& one, const stats::Metric& other) {
  return stats::MetricName(one) == stats::MetricName(other);
}

RunMetricsOfRuns RunMetricsOf(absl::Span<const TestRun> runs) {
  RunMetricsOfRuns metrics;
  for (const TestRun& run : runs) {
    metrics.push_back(MeasureRunMetrics(*run.result));
  }
  return metrics;
}

std::vector<stats::Metric> RunMetricsIn(
    absl::Span<const RunMetricsOfRuns* const> groups) {
  std::vector<stats::Metric> all;
  for (const RunMetricsOfRuns* runs : groups) {
    for (const std::vector<RunMetric>& run : *runs) {
      for (const RunMetric& one : run) {
        const bool is_known = std::any_of(
            all.begin(), all.end(), [&](const stats::Metric& other) {
              return IsOfSameName(other, one.metric);
            });
        if (!is_known) all.push_back(one.metric);
      }
    }
  }
  return all;
}

absl::StatusOr<std::vector<double>> ValuesOf(absl::string_view group,
                                             const stats::Metric& metric,
                                             const RunMetricsOfRuns& runs) {
  return ValuesIn(group, runs, [&](const std::vector<RunMetric>& run) {
    return ValueOf(metric, run);
  });
}

std::string DefinitionDifference(const stats::Metric& metric,
                                 const RunMetricsOfRuns& base,
                                 absl::string_view group,
                                 const RunMetricsOfRuns& runs) {
  const std::string& first = Find(metric, base.front())->definition;
  for (const auto& [name, of_group] :
       {std::pair(absl::string_view("base"), &base), std::pair(group, &runs)}) {
    for (size_t i = 0; i < of_group->size(); ++i) {
      const std::string& other = Find(metric, (*of_group)[i])->definition;
      if (other == first) continue;
      return absl::StrCat("it is ", first, InRun(0, base.size(), "base"),
                          ", but ", other, InRun(i, of_group->size(), name));
    }
  }
  return "";
}

std::string RemarkOn(absl::string_view group, const stats::Metric& metric,
                     const RunMetricsOfRuns& runs) {
  std::string text;
  int others = -1;
  for (size_t i = 0; i < runs.size(); ++i) {
    const std::string& remark = Find(metric, runs[i])->remark;
    if (remark.empty()) continue;
    if (++others == 0)
      text = absl::StrCat(remark, InRun(i, runs.size(), group));
  }
  if (others > 0) absl::StrAppend(&text, ", and some in ", others, " more");
  return text;
}

}  // namespace distbench::report
