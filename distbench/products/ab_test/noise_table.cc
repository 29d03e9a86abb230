// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/ab_test/noise_table.h"

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "distbench/report/comparison/metric_values.h"
#include "distbench/report/comparison/noise_floor.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/stats/metric.h"

namespace distbench::ab_test {
namespace {

// The sizes of groups that the table shows.
constexpr int kGroupSizes[] = {1, 5, 10};

constexpr char kGroup[] = "the test";

// A metric, and its value in each run.
struct MetricValues {
  stats::Metric metric;
  absl::StatusOr<std::vector<double>> values;
};

void AppendMetric(const MetricValues& row, int name_width, std::string& text) {
  const auto& [metric, values] = row;
  absl::StrAppendFormat(&text, "    %-*s", name_width,
                        stats::MetricName(metric));
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

void AppendTable(absl::string_view title, const std::vector<MetricValues>& rows,
                 std::string& text) {
  absl::StrAppend(&text, "  ", title, ":\n");
  size_t name_width = 8;
  for (const MetricValues& row : rows) {
    name_width = std::max(name_width, stats::MetricName(row.metric).size());
  }
  absl::StrAppendFormat(&text, "    %-*s", static_cast<int>(name_width), "");
  for (const int size : kGroupSizes) {
    absl::StrAppendFormat(&text, " %12s",
                          absl::StrCat(size, size == 1 ? " run" : " runs"));
  }
  text += '\n';
  for (const MetricValues& row : rows) {
    AppendMetric(row, static_cast<int>(name_width), text);
  }
}

void AppendRpc(const std::string& name, const report::RpcRuns& runs,
               std::string& text) {
  const report::LatencyKind latency = report::LatencyOf({&runs});
  std::vector<MetricValues> rows;
  for (const stats::Metric& metric :
       report::MetricsOf(stats::DefaultMetrics(), {&runs})) {
    rows.push_back({metric, report::ValuesOf(kGroup, metric, runs, latency)});
  }
  AppendTable(absl::StrCat(name, ", ", report::LatencyName(latency)), rows,
              text);
}

absl::StatusOr<std::vector<double>> RunValues(
    const stats::Metric& metric, const report::RunMetricsOfRuns& runs) {
  auto values = report::ValuesOf(kGroup, metric, runs);
  if (!values.ok()) return values;
  const std::string difference =
      report::DefinitionDifference(metric, runs, kGroup, {});
  if (!difference.empty()) return absl::NotFoundError(difference);
  return values;
}

void AppendRunMetrics(absl::Span<const report::TestRun> runs,
                      std::string& text) {
  const report::RunMetricsOfRuns metrics = report::RunMetricsOf(runs);
  std::vector<MetricValues> rows;
  for (const stats::Metric& metric : report::RunMetricsIn({&metrics})) {
    rows.push_back({metric, RunValues(metric, metrics)});
  }
  if (!rows.empty()) AppendTable(report::kRunMetricsTitle, rows, text);
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
  AppendRunMetrics(runs, text);
  return text;
}

}  // namespace distbench::ab_test
