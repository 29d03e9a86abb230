// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/derived/derive.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/version.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/report/derived/figures.h"
#include "distbench/report/derived/table_rows.h"
#include "distbench/report/derived/tables.h"
#include "distbench/report/findings/findings.h"
#include "distbench/report/measurements/faults.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/rpc_series.h"
#include "distbench/report/measurements/run_outcome.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/objectives/objectives.h"
#include "distbench/report/objectives/run_headline.h"
#include "distbench/report/verdicts/check.h"
#include "distbench/results/run_failure.h"
#include "distbench/results/walk.h"
#include "google/protobuf/descriptor.h"
#include "proto/json_options.pb.h"

namespace distbench::report {
namespace {

using ::google::protobuf::Message;

void DeriveFinding(const Finding& found, Report::Finding& finding) {
  finding.set_severity(SeverityName(found.severity()));
  finding.set_code(found.code());
  finding.set_message(found.message());
  if (!found.advice().empty()) finding.set_advice(found.advice());
  finding.set_of_each_host(IsOfEachHost(found.code()));
}

void DeriveObjective(const JudgedObjective& judged,
                     Report::Objective& objective) {
  objective.set_objective(judged.check.condition);
  objective.set_verdict(
      absl::AsciiStrToLower(VerdictName(judged.check.verdict)));
  if (judged.objective) {
    objective.set_unit(
        std::string(stats::UnitName(stats::UnitOf(judged.objective->metric))));
    objective.set_limit(judged.objective->limit);
  }
  SetFigure(judged.measured, "measured", "failed", objective);
  SetFigure(judged.lower, "lower", "lower_failed", objective);
  SetFigure(judged.upper, "upper", "upper_failed", objective);
  objective.set_of_independent(judged.of_independent);
  objective.set_evidence(judged.check.evidence);
}

void DeriveHeadline(const RunHeadline& of_run, Report::Headline& headline) {
  headline.set_verdict(of_run.verdict);
  if (!of_run.objectives.empty()) headline.set_objectives(of_run.objectives);
  headline.set_warning_count(of_run.warning_count);
}

void DeriveRun(const RunInfo& run_info, Report::Run& run) {
  CopyByName(run_info, run);
  if (run.version().empty()) run.clear_version();
  if (run.revision().empty()) run.clear_revision();
  if (run.config_hash().empty()) run.clear_config_hash();
  if (run_info.has_random_seed()) {
    run.set_random_seed(absl::StrCat(run_info.random_seed()));
  }
}

// ---- Tables -----------------------------------------------------------------

int64_t MaxRows(const JsonLimits& limits, const std::string& table) {
  const auto limit = limits.max_rows.find(table);
  return limit == limits.max_rows.end() ? std::numeric_limits<int64_t>::max()
                                        : limit->second;
}

// Those tables that a run has as fields, but for the one that is derived with
// its RPCs.
void DeriveTables(const TestResult& result, const JsonLimits& limits,
                  Report::Test& test) {
  for (const ReportTable& table : AllTables()) {
    const auto* field = test.GetDescriptor()->FindFieldByName(table.name());
    if (field == nullptr || field->message_type() != table.type ||
        table.type == Report::SecondTable::descriptor()) {
      continue;
    }
    TableRows rows(MaxRows(limits, table.name()),
                   test.GetReflection()->MutableMessage(&test, field));
    table.list_rows(result, [&](Message& row) { rows.Add(row); });
  }
}

// With the table of their series.
void DeriveRpcs(const TestResult& result, const TestTotals& totals,
                const JsonLimits& limits, Report::Test& test) {
  TableRows seconds(std::numeric_limits<int64_t>::max(),
                    test.mutable_seconds());
  for (const int rpc_index : ListRpcs(result)) {
    RpcMeasurements rpc =
        MeasurementsOf(result, totals, rpc_index, kMeasuredIntervals);
    const RpcSeries shown =
        CollectSeries(result, rpc_index, limits.max_intervals);
    rpc.traffic = SpanOfTraffic(result.run_info(), rpc.totals.counts, shown);
    *test.add_rpcs() = DeriveRpc(rpc);
    ListSeries(rpc.name, shown, [&](Message& row) { seconds.Add(row); });
  }
}

// ---- Servers ----------------------------------------------------------------

// Times that a page can draw.
constexpr int kMaxSpans = 1000;

void DeriveFault(const PlannedFault& planned, Report::ServerFault& fault) {
  fault.set_name(planned.name);
  fault.set_description(planned.description);
  fault.set_request_count(planned.request_count);
  fault.set_connection_count(planned.connection_count);
  for (const FaultSpan& span : planned.spans) {
    if (fault.times_size() == kMaxSpans) break;
    Report::Span& time = *fault.add_times();
    time.set_begin_timestamp_ns(span.begin_ns);
    time.set_end_timestamp_ns(span.end_ns);
  }
}

void DeriveServers(const TestResult& result, Report::Test& test) {
  for (const PlannedFault& planned : PlannedFaultsOf(result)) {
    DeriveFault(planned, *test.add_server_faults());
  }
  for (const ServiceAdmission& measured : AdmissionsOf(result)) {
    Report::Admission& admission = *test.add_admission();
    admission.set_service(measured.service);
    admission.set_admitted_count(measured.admitted_count);
    admission.set_refused_count(measured.refused_count);
    if (measured.wait_ns.count() > 0) {
      SetTimes(measured.wait_ns, *admission.mutable_wait());
    }
  }
  for (const auto* instance :
       results::Sorted(result.service_logs().instance_logs())) {
    if (!instance->second.has_engine_error_message()) continue;
    Report::StoppedInstance& stopped = *test.add_stopped_instances();
    stopped.set_instance(instance->first);
    stopped.set_message(instance->second.engine_error_message());
  }
}

}  // namespace

Report ReportWithoutTests() {
  Report report;
  const DocumentOptions& options =
      Report::descriptor()->options().GetExtension(document);
  report.set_schema(options.schema());
  report.set_schema_version(options.version());
  report.set_distbench_version(std::string(base::ProgramVersion()));
  report.set_confidence(kReportConfidence);
  return report;
}

Report::Test DeriveTest(const TestRun& run, const JsonLimits& limits) {
  const TestResult& result = *run.result;
  const TestTotals totals = AddUp(result);
  const RunInfo& run_info = result.run_info();
  Report::Test test;
  test.set_source(run.source);
  test.set_name(run.name);
  test.set_repetition(run.repetition);
  test.set_simulated(IsSimulated(result));
  test.set_verdict(RunVerdict(result, totals));
  if (const std::optional<std::string> failure = results::FailureOf(result)) {
    test.set_failure(*failure);
  }
  for (const Finding& finding : FindingsOf(result, totals)) {
    DeriveFinding(finding, *test.add_findings());
  }
  std::vector<Check> objectives;
  for (JudgedObjective& judged : JudgeObjectives(result)) {
    DeriveObjective(judged, *test.add_objectives());
    objectives.push_back(std::move(judged.check));
  }
  DeriveHeadline(HeadlineOf(result, totals, objectives),
                 *test.mutable_headline());
  DeriveRun(run_info, *test.mutable_run());
  SetCounts(totals.all, *test.mutable_totals());
  test.mutable_totals()->set_duration_ns(totals.duration_ns);
  DeriveRpcs(result, totals, limits, test);
  *test.mutable_topology() = DeriveTopology(result, limits.max_instance_rows);
  DeriveTables(result, limits, test);
  DeriveHosts(result, test);
  DeriveServers(result, test);
  const auto& attributes = result.traffic_config().attributes();
  *test.mutable_attributes() = {attributes.begin(), attributes.end()};
  google::protobuf::TextFormat::PrintToString(result.traffic_config(),
                                              test.mutable_traffic_config());
  return test;
}

}  // namespace distbench::report
