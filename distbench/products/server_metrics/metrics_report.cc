// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/server_metrics/metrics_report.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/human_units.h"
#include "distbench/base/printable_line.h"
#include "distbench/base/text_table.h"
#include "distbench/products/server_metrics/measured_metric.h"
#include "distbench/products/server_metrics/report.pb.h"
#include "distbench/products/server_metrics/server_metrics.h"
#include "distbench/products/server_metrics/tail_contrast.h"
#include "distbench/report/measurements/measure.h"
#include "distbench/stats/metric.h"

namespace distbench::server_metrics {
namespace {

std::string NameOf(const MeasuredMetric& metric) {
  return base::PrintableLine(metric.entry->name());
}

stats::MetricUnit UnitOf(const MeasuredMetric& metric) {
  return stats::UnitOf(MetricOf(*metric.entry));
}

// ---- Tables -----------------------------------------------------------------

void SetFigures(const MeasuredMetric& metric, ServerMetricTable::Row& row) {
  if (const absl::StatusOr<report::Estimate> mean = metric.Mean(); mean.ok()) {
    row.set_mean(mean->value);
    if (mean->lower) row.set_lower(*mean->lower);
    if (mean->upper) row.set_upper(*mean->upper);
  }
  if (metric.judged.empty()) return;
  const auto [min, max] =
      std::minmax_element(metric.judged.begin(), metric.judged.end());
  row.set_min(*min);
  row.set_max(*max);
}

void SetReadings(const MeasuredMetric& metric, ServerMetricTable::Row& row) {
  const ServerMetricLog& log = *metric.log;
  row.set_node(metric.node);
  row.set_readings(log.values_size());
  row.set_judged(static_cast<int64_t>(metric.judged.size()));
  row.set_failed(log.failed_count());
  row.set_interval_ns(log.interval_ns());
  if (const int64_t count = log.duration_ns().count(); count > 0) {
    row.set_mean_reading_ns(log.duration_ns().sum() /
                            static_cast<double>(count));
    row.set_max_reading_ns(log.duration_ns().max());
  }
  if (log.has_clock_offset()) {
    row.set_clock_offset_ns(log.clock_offset().offset_ns());
    row.set_clock_offset_error_ns(log.clock_offset().error_ns());
  }
}

void ListMetrics(const std::vector<MeasuredMetric>& metrics,
                 report::RowSink sink) {
  for (const MeasuredMetric& metric : metrics) {
    const ServerMetric& entry = *metric.entry;
    ServerMetricTable::Row row;
    row.set_metric(entry.name());
    row.set_unit(std::string(stats::UnitName(UnitOf(metric))));
    row.set_source(entry.has_prometheus() ? "prometheus" : "command");
    row.set_query(entry.has_prometheus() ? entry.prometheus().query()
                                         : entry.command());
    row.set_interval_ns(entry.interval_ns());
    row.set_look_back_ns(LookBackNs(entry));
    if (metric.log != nullptr) {
      SetReadings(metric, row);
      SetFigures(metric, row);
    }
    sink(row);
  }
}

void ListReadings(const std::vector<MeasuredMetric>& metrics,
                  report::RowSink sink) {
  for (const MeasuredMetric& metric : metrics) {
    if (metric.log == nullptr) continue;
    for (int i = 0; i < metric.log->values_size(); ++i) {
      ServerMetricReadingTable::Row row;
      row.set_metric(metric.entry->name());
      row.set_timestamp_ns(metric.log->timestamps_ns(i));
      row.set_value(metric.log->values(i));
      row.set_judged(metric.is_judged[i]);
      sink(row);
    }
    for (const FailedReading& failure : metric.log->failures()) {
      ServerMetricReadingTable::Row row;
      row.set_metric(metric.entry->name());
      row.set_timestamp_ns(failure.timestamp_ns());
      row.set_failure(failure.message());
      sink(row);
    }
  }
}

}  // namespace

void ListMetrics(const TestResult& result, report::RowSink sink) {
  ListMetrics(MeasureServerMetrics(result), sink);
}

void ListReadings(const TestResult& result, report::RowSink sink) {
  ListReadings(MeasureServerMetrics(result), sink);
}

void ListBoth(const TestResult& result, report::RowSink metrics,
              report::RowSink readings) {
  const std::vector<MeasuredMetric> measured = MeasureServerMetrics(result);
  ListMetrics(measured, metrics);
  ListReadings(measured, readings);
}

// ---- The summary ------------------------------------------------------------

namespace {

constexpr char kNone[] = "-";

base::TextRow TextRowOf(const MeasuredMetric& metric) {
  ServerMetricTable::Row row;
  if (metric.log != nullptr) {
    SetReadings(metric, row);
    SetFigures(metric, row);
  }
  const stats::MetricUnit unit = UnitOf(metric);
  const auto text = [&](bool is_known, double value) {
    return is_known ? report::ValueText(unit, value) : std::string(kNone);
  };
  return {NameOf(metric),
          text(row.has_mean(), row.mean()),
          row.has_lower() ? absl::StrCat(text(true, row.lower()), " to ",
                                         text(true, row.upper()))
                          : kNone,
          text(row.has_min(), row.min()),
          text(row.has_max(), row.max()),
          absl::StrCat(row.judged()),
          absl::StrCat(row.failed()),
          metric.log == nullptr ? kNone : base::PrintableLine(metric.node)};
}

}  // namespace

std::vector<std::string> MetricLines(const TestResult& result) {
  const std::vector<MeasuredMetric> metrics = MeasureServerMetrics(result);
  if (metrics.empty()) return {};
  std::vector<base::TextRow> rows = {{"metric", "mean", "95 % interval", "min",
                                      "max", "readings", "failed", "read by"}};
  for (const MeasuredMetric& metric : metrics) {
    rows.push_back(TextRowOf(metric));
  }
  std::vector<std::string> lines = base::AlignedLines(rows, "lrrrrrrl");
  for (std::string& line : lines) line.insert(0, "  ");
  return lines;
}

// ---- Findings ---------------------------------------------------------------

namespace {

// The probability with which the tail of a run seems to go together with a
// figure that it has nothing to do with.
constexpr double kTailError = 0.05;

// Fewer values that are alike say nothing.
constexpr size_t kManyAlike = 4;

std::string SecondsAfterStart(const TestResult& result, int64_t timestamp_ns) {
  const double ns = static_cast<double>(timestamp_ns) -
                    static_cast<double>(result.run_info().start_timestamp_ns());
  return absl::StrCat(base::HumanDuration(ns), " after the start");
}

std::string FailureText(const TestResult& result,
                        const MeasuredMetric& metric) {
  std::string text = metric.FailuresText();
  if (metric.log->failures().empty()) return text;
  const FailedReading& first = metric.log->failures(0);
  absl::StrAppend(&text, ", the first ",
                  SecondsAfterStart(result, first.timestamp_ns()), ": ",
                  base::PrintableLine(first.message()));
  return text;
}

void JudgeFailures(const TestResult& result, const MeasuredMetric& metric,
                   report::FindingList& findings) {
  if (metric.log->failed_count() == 0) return;
  std::string text = FailureText(result, metric);
  if (metric.failed_share() > kMaxFailedShare && !metric.judged.empty()) {
    absl::StrAppend(&text, "; so many that its mean has no bounds");
  }
  findings.Add(Finding::WARN, "server_metric_failed", std::move(text),
               "Make what the test reads answer throughout the run, within "
               "the metric's timeout; the table server_metric_readings has "
               "the failures.");
}

// Whether readings were made, or none at all, but none of the measured time.
bool HasNoneInTime(const MeasuredMetric& metric) {
  return metric.judged.empty() &&
         (!metric.log->values().empty() || metric.log->failed_count() == 0);
}

bool NeverChanged(const MeasuredMetric& metric) {
  return metric.entry->has_prometheus() && metric.judged.size() >= kManyAlike &&
         std::adjacent_find(metric.judged.begin(), metric.judged.end(),
                            std::not_equal_to<>()) == metric.judged.end();
}

void JudgeValues(const MeasuredMetric& metric, report::FindingList& findings) {
  if (HasNoneInTime(metric)) {
    findings.Add(
        Finding::WARN, "server_metric_too_late",
        absl::StrCat("the metric ", NameOf(metric),
                     " has no mean: ", metric.Mean().status().message()),
        "Run the test for longer, query a shorter range, or shorten the "
        "warm-up.");
  }
  if (!NeverChanged(metric)) return;
  findings.Add(
      Finding::NOTE, "server_metric_unchanged",
      absl::StrCat("all ", metric.judged.size(), " values of the metric ",
                   NameOf(metric),
                   " are the same; Prometheus may have scraped none of them "
                   "during the traffic"),
      "If it should have changed, compare the interval at which Prometheus "
      "scrapes with the length of the test.");
}

// All contrasts share the error of one.
void JudgeTails(const TestResult& result,
                const std::vector<MeasuredMetric>& metrics,
                report::FindingList& findings) {
  const std::vector<TailContrast> contrasts = ContrastTails(result, metrics);
  for (const TailContrast& contrast : contrasts) {
    if (contrast.p_value * static_cast<double>(contrasts.size()) > kTailError) {
      continue;
    }
    const MeasuredMetric& metric = metrics[contrast.metric];
    const stats::MetricUnit unit = UnitOf(metric);
    findings.Add(
        Finding::NOTE, "tail_with_server_metric",
        absl::StrCat(
            "in the ", contrast.worst_seconds, " of ", contrast.seconds,
            " seconds with the highest p99 of ",
            base::PrintableLine(contrast.rpc), " (",
            base::HumanDuration(static_cast<double>(contrast.worst_from_ns)),
            " and more), the metric ", NameOf(metric), " was ",
            report::ValueText(unit, contrast.worst_mean),
            " on average, in the others ",
            report::ValueText(unit, contrast.other_mean),
            "; that they go together does not say which is the cause, if "
            "either is"),
        "Look at both over time on the page of the report.");
  }
}

}  // namespace

void JudgeReadings(const TestResult& result, report::FindingList& findings) {
  std::vector<std::string> unread;
  const std::vector<MeasuredMetric> metrics = MeasureServerMetrics(result);
  for (const MeasuredMetric& metric : metrics) {
    if (metric.log == nullptr) {
      unread.push_back(NameOf(metric));
      continue;
    }
    JudgeFailures(result, metric, findings);
    JudgeValues(metric, findings);
  }
  JudgeTails(result, metrics, findings);
  if (unread.empty()) return;
  findings.Add(
      Finding::NOTE, "server_metric_unread",
      absl::StrCat("nobody has read the server metrics of the test: ",
                   absl::StrJoin(unread, ", "),
                   result.has_simulation()
                       ? "; simulated hosts have none"
                       : "; a node that was lost, or a preview, reads none"),
      "Run the test on node managers that allow what it reads.");
}

}  // namespace distbench::server_metrics
