#include "distbench/products/protection/report/experiments_json.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/base/json.h"
#include "distbench/products/protection/measures/matrix.h"
#include "distbench/products/protection/measures/notes.h"
#include "distbench/products/protection/report/protection_table.h"
#include "distbench/report/json/json_parts.h"

namespace distbench::protection {
namespace {

using Json = nlohmann::ordered_json;

Json PhasesJson(const ExperimentCell& cell) {
  return {{"baseline_start_timestamp_ns", cell.baseline_start_timestamp_ns()},
          {"interfere_start_timestamp_ns", cell.interfere_start_timestamp_ns()},
          {"recover_start_timestamp_ns", cell.recover_start_timestamp_ns()},
          {"end_timestamp_ns", cell.end_timestamp_ns()}};
}

Json BaselineJson(const ProtectionRun& run) {
  if (!run.problem.empty()) return nullptr;
  Json json = {{"goodput_per_second", run.baseline_per_second}};
  for (size_t i = 0; i < kImpactQuantiles.size(); ++i) {
    json[absl::StrFormat("p%.0f_ns", 100 * kImpactQuantiles[i])] =
        report::OutcomeJson(run.baseline_ns[i]);
  }
  json["seconds"] = run.baseline.second_count;
  json["silent_seconds"] = run.baseline.silent_count;
  json["served"] = run.baseline.served_share;
  return json;
}

// The position of the run among the document's tests.
Json TestIndexJson(const ProtectionRun& run,
                   absl::Span<const report::TestRun> tests) {
  for (size_t i = 0; i < tests.size(); ++i) {
    if (tests[i].result == run.result) return i;
  }
  return nullptr;
}

Json ProtectionRunJson(const ProtectionRun& run,
                       absl::Span<const report::TestRun> tests) {
  const ExperimentCell& cell = run.result->experiment_cell();
  return {
      {"test", TestIndexJson(run, tests)},
      {"repetition", cell.repetition()},
      {"order", cell.order()},
      {"problem", base::TextOrNull(run.problem)},
      {"notes", NotesOf(run)},
      {"failure", base::TextOrNull(run.result->run_info().failure())},
      {"antagonist_lost", run.antagonist_lost},
      {"is_stable", cell.has_is_stable() ? Json(cell.is_stable()) : Json()},
      {"stability", base::TextOrNull(cell.stability())},
      {"phases", PhasesJson(cell)},
      {"latency", run.has_response_times ? "response_time" : "service_time"},
      {"interval_s", static_cast<double>(run.interval_ns) / 1e9},
      {"series_left_out", run.left_out_count},
      {"baseline", BaselineJson(run)},
      {"recovered_after_s", base::OrNull(run.recovered_after_s)},
      {"recovery_s", run.recovery_s}};
}

Json ConservationJson(const WorkConservation& work) {
  return {{"resource", WorkResourceName(work.resource)},
          {"work_csv", base::OrNull(work.share)},
          {"reason", base::TextOrNull(work.reason)},
          {"together_per_second", work.together},
          {"possible_per_second", work.possible},
          {"subject_alone_per_second", work.subject_alone},
          {"antagonist_alone_per_second", work.antagonist_alone}};
}

Json NestedJson(const NestedLatencies& latencies) {
  if (latencies.p50.count() == 0) return nullptr;
  const auto over_seconds = [](const stats::ValueDistribution& values) -> Json {
    return {{"mean_ns", base::OrNull(values.mean())},
            {"stdev_ns", base::OrNull(values.deviation())},
            {"max_ns", values.AtQuantile(1)}};
  };
  return {{"seconds", latencies.p50.count()},
          {"p50", over_seconds(latencies.p50)},
          {"p90", over_seconds(latencies.p90)},
          {"p99", over_seconds(latencies.p99)},
          {"max", over_seconds(latencies.max)}};
}

Json FilesJson(const FileLatencies& files) {
  return {{"reads", NestedJson(files.reads)},
          {"writes", NestedJson(files.writes)}};
}

// The cells as objects: the columns of their table, then what it cannot hold.
Json CellsJson(const ProtectionMatrix& matrix,
               absl::Span<const report::TestRun> tests) {
  const ProtectionTable& table = ProtectionCellsTable();
  Json cells = Json::array();
  table.list_rows(matrix, [&](const report::Row& row) {
    const ProtectionCell& cell = matrix.cells[cells.size()];
    Json json = Json::object();
    for (size_t i = 0; i < row.size(); ++i) {
      json[table.columns[i]] = report::CellJson(row[i]);
    }
    json["lat_imp_failed_seconds"] = cell.impact[kMainImpact].infinite_count();
    json["work"] = Json::array();
    for (const WorkConservation& work : cell.conservation) {
      json["work"].push_back(ConservationJson(work));
    }
    json["subject_files"] = FilesJson(cell.subject_files);
    json["antagonist_files"] = FilesJson(cell.antagonist_files);
    json["notes"] = NotesOf(cell);
    json["by_run"] = Json::array();
    for (const ProtectionRun& run : cell.runs) {
      json["by_run"].push_back(ProtectionRunJson(run, tests));
    }
    cells.push_back(std::move(json));
  });
  return cells;
}

Json SecondsJson(const ProtectionMatrix& matrix, int64_t max_rows) {
  const ProtectionTable& table = ProtectionSecondsTable();
  Json rows = Json::array();
  int64_t left_out = 0;
  table.list_rows(matrix, [&](const report::Row& row) {
    if (static_cast<int64_t>(rows.size()) < max_rows) {
      rows.push_back(report::RowJson(row));
    } else {
      ++left_out;
    }
  });
  return {{"columns", table.columns},
          {"rows", std::move(rows)},
          {"rows_left_out", left_out}};
}

Json ExperimentJson(const ProtectionMatrix& matrix,
                    absl::Span<const report::TestRun> tests, int64_t max_rows) {
  const ExperimentReport& report = *matrix.report;
  Json omissions = Json::array();
  for (const std::string& omission : report.omissions()) {
    omissions.push_back(omission);
  }
  return {{"source", matrix.source},
          {"test_name", report.test_name()},
          {"rpc", matrix.subject.rpc},
          {"objective",
           base::TextOrNull(report.experiment().subject().objective())},
          {"capacity_per_second", report.has_capacity_per_second()
                                      ? Json(report.capacity_per_second())
                                      : Json()},
          {"is_capacity_least", matrix.is_capacity_least},
          {"random_seed", report.has_random_seed()
                              ? Json(absl::StrCat(report.random_seed()))
                              : Json()},
          {"problem", base::TextOrNull(matrix.problem)},
          {"omissions", std::move(omissions)},
          {"notes", NotesOf(matrix)},
          {"cells", CellsJson(matrix, tests)},
          {"seconds", SecondsJson(matrix, max_rows)}};
}

}  // namespace

Json ExperimentsJson(const report::ReportInput& input,
                     const report::JsonLimits& limits) {
  Json json = Json::array();
  for (const ProtectionMatrix& matrix : MeasureExperiments(input.runs)) {
    json.push_back(ExperimentJson(matrix, input.runs, limits.max_part_rows));
  }
  return json;
}

}  // namespace distbench::protection
