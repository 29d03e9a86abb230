// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/server_metrics/measured_metric.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/human_units.h"
#include "distbench/base/printable_line.h"
#include "distbench/base/saturating_add.h"
#include "distbench/products/server_metrics/server_metrics.h"
#include "distbench/stats/quantile_interval.h"
#include "distbench/stats/ratio_error.h"

namespace distbench::server_metrics {
namespace {

// Consecutive values in at most stats::kMaxBlocks blocks, each of at least so
// many; the last one may be smaller.
std::vector<stats::BlockAmount> BlocksOf(const std::vector<double>& values,
                                         size_t least_length) {
  const size_t length =
      std::max(least_length, (values.size() + stats::kMaxBlocks - 1) /
                                 static_cast<size_t>(stats::kMaxBlocks));
  std::vector<stats::BlockAmount> blocks;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i % length == 0) blocks.push_back({0, 0});
    blocks.back().amount += values[i];
    blocks.back().count += 1;
  }
  return blocks;
}

// The values that have a part of their time in common with the first of them.
size_t OverlapOf(const MeasuredMetric& metric) {
  const int64_t interval_ns = std::max<int64_t>(metric.log->interval_ns(), 1);
  const int64_t overlap = LookBackNs(*metric.entry) / interval_ns;
  return static_cast<size_t>(
      std::clamp<int64_t>(overlap, 1, metric.log->values_size()));
}

// Whether each value has a time.
bool IsWhole(const ServerMetricLog& log) {
  return log.values_size() == log.timestamps_ns_size() &&
         log.failed_count() >= 0 &&
         std::all_of(log.values().begin(), log.values().end(),
                     [](double value) { return std::isfinite(value); });
}

// Finds who read the entry.
void FindLog(const TestResult& result, MeasuredMetric& metric) {
  for (const auto& [alias, node] :
       result.resource_usage_logs().node_resources()) {
    for (const ServerMetricLog& log : node.server_metrics()) {
      if (log.name() != metric.entry->name() || !IsWhole(log)) continue;
      metric.log = &log;
      metric.node = alias;
      return;
    }
  }
}

void FindJudged(const results::RpcCounts& measured, MeasuredMetric& metric) {
  const int64_t look_back_ns = LookBackNs(*metric.entry);
  for (int i = 0; i < metric.log->values_size(); ++i) {
    const int64_t time_ns = metric.log->timestamps_ns(i);
    metric.is_judged.push_back(
        base::SaturatingSubtract(time_ns, look_back_ns) >=
            measured.first_start_timestamp_ns &&
        time_ns <= measured.last_end_timestamp_ns);
    if (metric.is_judged.back()) metric.judged.push_back(metric.log->values(i));
  }
}

std::string WhyNoMean(const MeasuredMetric& metric) {
  const std::string& name = metric.entry->name();
  if (metric.log == nullptr) {
    return absl::StrCat("no node has read the metric \"", name, "\"");
  }
  if (metric.reading_count() == 0) {
    return absl::StrCat("the traffic ended before the metric \"", name,
                        "\" was read");
  }
  if (metric.log->values().empty()) {
    return absl::StrCat(
        "no reading of the metric \"", name, "\" gave a value",
        metric.log->failures().empty()
            ? ""
            : absl::StrCat(": ", metric.log->failures(0).message()));
  }
  return absl::StrCat(
      "no reading of the metric \"", name, "\" lies in the measured time with ",
      "the ",
      base::HumanDuration(static_cast<double>(LookBackNs(*metric.entry))),
      " that it looks back");
}

}  // namespace

int64_t MeasuredMetric::reading_count() const {
  return log == nullptr
             ? 0
             : base::SaturatingAdd(log->values_size(), log->failed_count());
}

double MeasuredMetric::failed_share() const {
  const int64_t count = reading_count();
  return count == 0 ? 0 : static_cast<double>(log->failed_count()) / count;
}

std::string MeasuredMetric::FailuresText() const {
  if (log == nullptr || log->failed_count() == 0) return "";
  return absl::StrCat(log->failed_count(), " of ", reading_count(),
                      " readings of the metric ",
                      base::PrintableLine(entry->name()), " failed");
}

absl::StatusOr<report::Estimate> MeasuredMetric::Mean() const {
  if (judged.empty()) return absl::NotFoundError(WhyNoMean(*this));
  const std::vector<stats::BlockAmount> blocks =
      BlocksOf(judged, OverlapOf(*this));
  const auto [amount, count] = stats::SumOf(blocks);
  report::Estimate mean = {.value = amount / count,
                           .log_error = report::kUnknownError,
                           .is_of_independent = true};
  if (blocks.size() < stats::kMinBlocks || failed_share() > kMaxFailedShare) {
    return mean;
  }
  const double half_width =
      stats::HalfWidthOfRatio(blocks, report::kReportConfidence);
  mean.lower = mean.value - half_width;
  mean.upper = mean.value + half_width;
  if (mean.value > 0) {
    mean.log_error = half_width / report::kErrorsPerInterval / mean.value;
  }
  mean.is_of_independent = blocks.size() < stats::kFewestForCorrelation;
  return mean;
}

std::vector<MeasuredMetric> MeasureServerMetrics(
    const TestResult& result, const report::TestTotals& totals) {
  std::vector<MeasuredMetric> metrics;
  for (const ServerMetric& entry : result.traffic_config().server_metrics()) {
    MeasuredMetric& metric = metrics.emplace_back();
    metric.entry = &entry;
    FindLog(result, metric);
    if (metric.log != nullptr) FindJudged(totals.all, metric);
  }
  return metrics;
}

std::vector<MeasuredMetric> MeasureServerMetrics(const TestResult& result) {
  if (result.traffic_config().server_metrics().empty()) return {};
  return MeasureServerMetrics(result, report::AddUp(result));
}

std::vector<report::RunMetric> MeasureMeans(const TestResult& result) {
  std::vector<report::RunMetric> means;
  for (const MeasuredMetric& measured : MeasureServerMetrics(result)) {
    report::RunMetric mean = {
        .metric = MetricOf(*measured.entry),
        .definition = DefinitionOf(result.traffic_config(), *measured.entry),
        .estimate = measured.Mean(),
        .remark = measured.FailuresText()};
    if (mean.estimate.ok() && measured.failed_share() > kMaxFailedShare) {
      mean.estimate = absl::NotFoundError(
          absl::StrCat(mean.remark, ", too many for a mean"));
    }
    means.push_back(std::move(mean));
  }
  return means;
}

absl::StatusOr<report::ObjectiveOutcome> JudgeServerMetric(
    const config::Objective& objective, const TestResult& result,
    const report::TestTotals& totals) {
  const std::string& name = objective.metric.name;
  for (const MeasuredMetric& metric : MeasureServerMetrics(result, totals)) {
    if (metric.entry->name() != name) continue;
    const std::string problem = UnitProblem(objective, *metric.entry);
    if (!problem.empty()) return absl::InvalidArgumentError(problem);
    const absl::StatusOr<report::Estimate> mean = metric.Mean();
    if (!mean.ok()) return mean.status();
    std::string measured =
        absl::StrCat(report::EstimateText(objective.metric, *mean), " in ",
                     metric.judged.size(), " readings");
    if (metric.log->failed_count() > 0) {
      absl::StrAppend(&measured, ", ", metric.log->failed_count(), " failed");
    }
    return report::ObjectiveOutcomeOf(objective, *mean, std::move(measured));
  }
  return absl::NotFoundError(
      absl::StrCat("the test has no metric \"", name, "\""));
}

}  // namespace distbench::server_metrics
