// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What this product adds to the program.

#include "absl/status/status.h"
#include "distbench/base/message_json.h"
#include "distbench/base/plugins.h"
#include "distbench/products/server_metrics/measured_metric.h"
#include "distbench/products/server_metrics/metrics_report.h"
#include "distbench/products/server_metrics/page_files.h"
#include "distbench/products/server_metrics/reading/metrics_extension.h"
#include "distbench/products/server_metrics/report.pb.h"
#include "distbench/products/server_metrics/server_metrics_language.h"
#include "distbench/report/csv/csv.h"
#include "distbench/report/derived/tables.h"
#include "distbench/report/measurements/run_metrics.h"
#include "distbench/report/objectives/objectives.h"
#include "distbench/report/parts/document_parts.h"
#include "distbench/report/parts/finding_rule.h"
#include "distbench/report/parts/report_format.h"
#include "distbench/report/parts/text_part.h"

namespace distbench::server_metrics {
namespace {

const base::Plugin<base::Product> kProduct(
    "server_metrics",
    new base::Product{"Reads figures of servers while there is traffic"});

const base::Plugin<config::LanguagePart> kLanguage("server_metrics",
                                                   new ServerMetricsLanguage);
const base::Plugin<node::NodeExtension> kReading("server_metrics",
                                                 new MetricsExtension);

bool IsServerMetric(const config::Objective& objective) {
  return objective.metric.kind == stats::Metric::Kind::kServerMetric;
}

const base::Plugin<report::ObjectiveJudge> kObjectives(
    "server_metrics",
    new report::ObjectiveJudge{IsServerMetric, JudgeServerMetric});

const base::Plugin<report::RunMetricSource> kMeans("server_metrics",
                                                   new report::RunMetricSource{
                                                       MeasureMeans});

// ---- Reports ----------------------------------------------------------------

const report::ReportTable kMetrics = {ServerMetricTable::descriptor(),
                                      ListMetrics};
const report::ReportTable kReadings = {ServerMetricReadingTable::descriptor(),
                                       ListReadings};

base::Json ValueOf(const TestResult& result, const report::JsonLimits& limits) {
  if (result.traffic_config().server_metrics().empty()) return nullptr;
  ReportedServerMetrics reported;
  {
    report::TableRows metrics(limits.max_part_rows, reported.mutable_metrics());
    report::TableRows readings(limits.max_part_rows,
                               reported.mutable_readings());
    ListBoth(
        result, [&](auto& row) { metrics.Add(row); },
        [&](auto& row) { readings.Add(row); });
  }
  return base::MessageJson(reported);
}

const base::Plugin<report::TestKey> kKey("server_metrics",
                                         new report::TestKey{{"resources"},
                                                             ValueOf});

const base::Plugin<report::PagePart> kPage(
    "server_metrics",
    new report::PagePart{{"over-time"}, kServerMetricsHtml, kServerMetricsJs});

const base::Plugin<report::SummarySection> kSection("Server metrics",
                                                    new report::SummarySection{
                                                        {"Global summary"},
                                                        MetricLines});

const base::Plugin<report::FindingRule> kFindings(
    "server_metrics",
    new report::FindingRule{JudgeReadings,
                            {"server_metric_failed", "server_metric_too_late",
                             "server_metric_unchanged", "server_metric_unread",
                             "tail_with_server_metric"}});

const base::Plugin<report::CsvTable> kTables[] = {
    {"server_metrics",
     new report::CsvTable{{"resources", 0},
                          "a row per figure of a server that was read",
                          report::WriteTableOfRuns<kMetrics>}},
    {"server_metric_readings",
     new report::CsvTable{{"resources", 1},
                          "a row per reading of a server's figure",
                          report::WriteTableOfRuns<kReadings>}}};

}  // namespace
}  // namespace distbench::server_metrics
