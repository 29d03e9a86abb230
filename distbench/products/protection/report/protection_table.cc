#include "distbench/products/protection/report/protection_table.h"

#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
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

}  // namespace distbench::protection
