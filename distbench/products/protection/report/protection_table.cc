#include "distbench/products/protection/report/protection_table.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/base/json.h"
#include "distbench/products/protection/measures/matrix.h"
#include "distbench/products/protection/measures/resources.h"
#include "distbench/products/protection/measures/work.h"
#include "distbench/report/json/json_parts.h"
#include "distbench/stats/outcomes.h"

namespace distbench::protection {
namespace {

void AddEstimate(const std::optional<Estimate>& estimate, report::Row& row) {
  row.push_back(estimate ? report::NumberCell(estimate->value)
                         : report::Cell());
  const bool has_interval = estimate && estimate->interval;
  row.push_back(has_interval ? report::NumberCell(estimate->interval->lower)
                             : report::Cell());
  row.push_back(has_interval ? report::NumberCell(estimate->interval->upper)
                             : report::Cell());
}

void AddDistribution(const stats::ValueDistribution& values, report::Row& row) {
  for (const stats::DistributionColumn& column : stats::kDistributionColumns) {
    row.push_back(values.count() == 0
                      ? report::Cell()
                      : report::NumberCell(values.AtQuantile(column.quantile)));
  }
  row.push_back(report::NumberCell(values.mean()));
  row.push_back(report::NumberCell(values.deviation()));
}

void AddWork(const std::optional<WorkRate>& rate, report::Row& row) {
  const bool is_known = rate.has_value();
  const WorkRate known = rate.value_or(WorkRate());
  for (const double number :
       {known.offered, known.completed, known.bytes, known.message_bytes}) {
    row.push_back(is_known ? report::Cell(number) : report::Cell());
  }
}

void AddConservation(const ProtectionCell& cell, report::Row& row) {
  const WorkConservation* main = MainConservation(cell.conservation);
  row.push_back(main == nullptr ? report::Cell() : report::Cell(*main->share));
  row.push_back(main == nullptr ? report::Cell()
                                : report::Cell(std::string(
                                      WorkResourceName(main->resource))));
  for (size_t i = 0; i < kWorkResources.size(); ++i) {
    row.push_back(i < cell.conservation.size()
                      ? report::NumberCell(cell.conservation[i].share)
                      : report::Cell());
  }
}

report::Row CellRow(const ProtectionCell& cell) {
  report::Row row = {cell.controls,
                     cell.antagonist,
                     cell.load,
                     cell.load_per_second > 0
                         ? report::Cell(cell.load_per_second)
                         : report::Cell(),
                     static_cast<int64_t>(cell.runs.size()),
                     static_cast<int64_t>(MeasuredRunCount(cell)),
                     static_cast<int64_t>(cell.isolation.count())};
  AddEstimate(cell.mean_isolation, row);
  AddEstimate(cell.p05_isolation, row);
  AddEstimate(cell.mean_impact, row);
  row.push_back(report::NumberCell(cell.isolation_against_none));
  row.push_back(report::NumberCell(MedianRecovery(cell)));
  row.push_back(cell.missing_share);
  row.push_back(cell.failed_share);
  AddConservation(cell, row);
  AddWork(cell.work.beside, row);
  AddWork(cell.work.alone, row);
  AddDistribution(cell.isolation, row);
  for (const stats::ValueDistribution& impact : cell.impact) {
    AddDistribution(impact, row);
  }
  return row;
}

std::string ImpactName(size_t quantile_index) {
  return absl::StrFormat("p%.0f", 100 * kImpactQuantiles[quantile_index]);
}

void AppendDistributionColumns(const std::string& prefix,
                               std::vector<std::string>& columns) {
  for (const stats::DistributionColumn& column : stats::kDistributionColumns) {
    columns.push_back(absl::StrCat(prefix, "_", column.name));
  }
  columns.push_back(prefix + "_mean");
  columns.push_back(prefix + "_stdev");
}

std::vector<std::string> CellColumns() {
  std::vector<std::string> columns = {"controls",
                                      "antagonist",
                                      "load",
                                      "load_per_second",
                                      "runs",
                                      "measured_runs",
                                      "seconds",
                                      "mean_isol",
                                      "mean_isol_lower",
                                      "mean_isol_upper",
                                      "p05_isol",
                                      "p05_isol_lower",
                                      "p05_isol_upper",
                                      "mean_lat_imp",
                                      "mean_lat_imp_lower",
                                      "mean_lat_imp_upper",
                                      "isol_against_none",
                                      "recovered_after_s",
                                      "missing",
                                      "failed",
                                      "work_csv",
                                      "work_csv_resource"};
  for (const WorkResource resource : kWorkResources) {
    columns.push_back(absl::StrCat("work_csv_", WorkResourceName(resource)));
  }
  for (const char* prefix : {"antagonist", "antagonist_alone"}) {
    for (const char* amount :
         {"offered", "completed", "bytes", "message_bytes"}) {
      columns.push_back(absl::StrCat(prefix, "_", amount, "_per_second"));
    }
  }
  AppendDistributionColumns("isol", columns);
  for (size_t i = 0; i < kImpactQuantiles.size(); ++i) {
    AppendDistributionColumns("lat_imp_" + ImpactName(i), columns);
  }
  return columns;
}

void ListCellRows(const ProtectionMatrix& matrix, report::RowSink sink) {
  for (const ProtectionCell& cell : matrix.cells) sink(CellRow(cell));
}

}  // namespace

const ProtectionTable& ProtectionCellsTable() {
  static const ProtectionTable* const table =
      new ProtectionTable{"protection", "a row per cell of an experiment",
                          CellColumns(), ListCellRows};
  return *table;
}

void RenderProtectionCsv(absl::Span<const report::TestRun> runs,
                         const ProtectionTable& table, report::ByteSink sink) {
  report::Row header = {"source", "test"};
  header.insert(header.end(), table.columns.begin(), table.columns.end());
  std::string page = report::CsvLine(header);
  for (const ProtectionMatrix& matrix : MeasureExperiments(runs)) {
    const report::Row start = {matrix.source, matrix.report->test_name()};
    table.list_rows(matrix, [&](const report::Row& row) {
      report::Row whole = start;
      whole.insert(whole.end(), row.begin(), row.end());
      page += report::CsvLine(whole);
      if (page.size() < report::kPageBytes) return;
      sink(page);
      page.clear();
    });
  }
  sink(page);
}

namespace {

void AddPressure(const Pressure& pressure, report::Row& row) {
  row.push_back(report::NumberCell(pressure.cpu));
  row.push_back(report::NumberCell(pressure.memory));
  row.push_back(report::NumberCell(pressure.io));
}

void AddUsage(const WorkerUsage& usage, report::Row& row) {
  row.push_back(report::NumberCell(usage.cpus));
  row.push_back(report::NumberCell(usage.memory_bytes));
  row.push_back(report::NumberCell(usage.swap_bytes));
  AddPressure(usage.pressure, row);
}

// The rows of one run.
class RunRows {
 public:
  RunRows(const ProtectionCell& cell, const ProtectionRun& run)
      : cell_(cell),
        run_(run),
        antagonist_(CollectWork(*run.result, WorkRole::kAntagonist)),
        usage_(UsageBySecond(*run.result, run.interval_ns)) {}

  report::Row At(const ProtectionSecond& second) const {
    report::Row row = {cell_.controls,
                       cell_.antagonist,
                       cell_.load,
                       int64_t{run_.result->experiment_cell().repetition()},
                       second.start_ns,
                       report::SecondsCell(run_.interval_ns),
                       std::string(ProtectionPhaseName(second.phase)),
                       std::string(SecondStateName(second.state)),
                       second.goodput_per_second,
                       second.isolation};
    for (size_t i = 0; i < kImpactQuantiles.size(); ++i) {
      row.push_back(report::OutcomeCell(second.latency_ns[i]));
      row.push_back(report::NumberCell(second.impact[i]));
    }
    AddWork(second, row);
    const auto usage = usage_.find(second.start_ns / run_.interval_ns);
    const SecondUsage known =
        usage == usage_.end() ? SecondUsage() : usage->second;
    AddUsage(known.subject, row);
    AddUsage(known.antagonist, row);
    AddPressure(known.host_pressure, row);
    return row;
  }

 private:
  void AddWork(const ProtectionSecond& second, report::Row& row) const {
    // A wide interval of the subject may contain several of the antagonist.
    std::optional<WorkRate> rate =
        MeanRate(antagonist_, {.start_ns = second.start_ns,
                               .end_ns = second.start_ns + run_.interval_ns});
    if (!rate) rate = RateAt(antagonist_, second.start_ns);
    const WorkRate known = rate.value_or(WorkRate());
    for (const double number :
         {known.offered, known.completed, known.bytes, known.message_bytes}) {
      row.push_back(rate ? report::Cell(number) : report::Cell());
    }
  }

  const ProtectionCell& cell_;
  const ProtectionRun& run_;
  const WorkSeries antagonist_;
  const std::map<int64_t, SecondUsage> usage_;
};

std::vector<std::string> SecondColumns() {
  std::vector<std::string> columns = {
      "controls",           "antagonist", "load",  "repetition",
      "start_timestamp_ns", "duration_s", "phase", "state",
      "goodput_per_second", "isol"};
  for (const double quantile : kImpactQuantiles) {
    const std::string name = absl::StrFormat("p%.0f", 100 * quantile);
    columns.push_back(name + "_ns");
    columns.push_back("lat_imp_" + name);
  }
  for (const char* amount :
       {"offered", "completed", "bytes", "message_bytes"}) {
    columns.push_back(absl::StrCat("antagonist_", amount, "_per_second"));
  }
  for (const char* worker : {"subject", "antagonist"}) {
    for (const char* use : {"cpus", "memory_bytes", "swap_bytes",
                            "cpu_pressure", "memory_pressure", "io_pressure"}) {
      columns.push_back(absl::StrCat(worker, "_", use));
    }
  }
  for (const char* resource : {"cpu", "memory", "io"}) {
    columns.push_back(absl::StrCat("host_", resource, "_pressure"));
  }
  return columns;
}

void ListSecondRows(const ProtectionMatrix& matrix, report::RowSink sink) {
  for (const ProtectionCell& cell : matrix.cells) {
    for (const ProtectionRun& run : cell.runs) {
      if (!run.problem.empty()) continue;
      const RunRows rows(cell, run);
      for (const ProtectionSecond& second : run.seconds) sink(rows.At(second));
    }
  }
}

}  // namespace

const ProtectionTable& ProtectionSecondsTable() {
  static const ProtectionTable* const table = new ProtectionTable{
      "protection_seconds", "a row per run of a cell and second of its phases",
      SecondColumns(), ListSecondRows};
  return *table;
}

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
