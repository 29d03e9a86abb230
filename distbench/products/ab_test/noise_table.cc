// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/ab_test/noise_table.h"

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/report/comparison/metric_values.h"
#include "distbench/report/comparison/noise_floor.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/stats/metric.h"

namespace distbench::ab_test {
namespace {

// The sizes of groups that the table shows.
constexpr int kGroupSizes[] = {1, 5, 10};

void AppendMetric(const stats::Metric& metric, const report::RpcRuns& runs,
                  report::LatencyKind latency, int name_width,
                  std::string& text) {
  absl::StrAppendFormat(&text, "    %-*s", name_width,
                        stats::MetricName(metric));
  const absl::StatusOr<std::vector<double>> values =
      report::ValuesOf("the test", metric, runs, latency);
  if (!values.ok()) {
    absl::StrAppend(&text, "  not known: ", values.status().message(), "\n");
    return;
  }
  for (const int size : kGroupSizes) {
    const auto noise = report::NoiseFloor(metric, *values, size, size);
    const std::string cell = noise ? report::NoiseText(metric, *noise) : "?";
    // The sign has two bytes, and one column.
    const int width = absl::StartsWith(cell, "±") ? 13 : 12;
    absl::StrAppendFormat(&text, " %*s", width, cell);
  }
  text += '\n';
}

void AppendRpc(const std::string& name, const report::RpcRuns& runs,
               std::string& text) {
  const report::LatencyKind latency = report::LatencyOf({&runs});
  absl::StrAppend(&text, "  ", name, ", ", report::LatencyName(latency), ":\n");
  const std::vector<stats::Metric> metrics =
      report::MetricsOf(stats::DefaultMetrics(), {&runs});
  size_t name_width = 8;
  for (const stats::Metric& metric : metrics) {
    name_width = std::max(name_width, stats::MetricName(metric).size());
  }
  absl::StrAppendFormat(&text, "    %-*s", static_cast<int>(name_width), "");
  for (const int size : kGroupSizes) {
    absl::StrAppendFormat(&text, " %12s",
                          absl::StrCat(size, size == 1 ? " run" : " runs"));
  }
  text += '\n';
  for (const stats::Metric& metric : metrics) {
    AppendMetric(metric, runs, latency, static_cast<int>(name_width), text);
  }
}

}  // namespace

absl::StatusOr<std::string> DescribeNoise(
    absl::Span<const report::TestRun> runs) {
  const std::string& name = runs.front().name;
  const std::string problem = report::WhyNoNoiseFloor(runs);
  if (!problem.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(name, " has no noise floor: ", problem));
  }
  std::string text =
      absl::StrCat("Test: ", report::MarkedName(name, *runs.front().result),
                   " (", runs.size(), " runs)\n");
  for (const auto& [rpc, rpc_runs] : report::RpcsOf(runs)) {
    AppendRpc(rpc, rpc_runs, text);
  }
  return text;
}

}  // namespace distbench::ab_test
