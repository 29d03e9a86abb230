// Experiments as rows of cells, for CSV and JSON.

#ifndef DISTBENCH_PRODUCTS_PROTECTION_REPORT_PROTECTION_TABLE_H_
#define DISTBENCH_PRODUCTS_PROTECTION_REPORT_PROTECTION_TABLE_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/products/protection/measures/matrix.h"
#include "distbench/report/json/json_limits.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/tables/csv.h"
#include "distbench/report/tables/table.h"

namespace distbench::protection {

struct ProtectionTable {
  absl::string_view name;
  absl::string_view description;
  std::vector<std::string> columns;

  // Passes an experiment's rows to the sink, one at a time. Each row has a cell
  // per column.
  void (*list_rows)(const ProtectionMatrix& matrix, report::RowSink sink);
};

// One row per cell of an experiment; per run of a cell and second of its
// phases. docs/reports.md documents the columns. Their names and order are a
// contract; new columns may only be appended.
const ProtectionTable& ProtectionCellsTable();
const ProtectionTable& ProtectionSecondsTable();

// Renders the header, then the rows of all experiments in the results from
// which the runs were listed; see RenderCsv(). The columns source and test
// precede those of the table.
void RenderProtectionCsv(absl::Span<const report::TestRun> runs,
                         const ProtectionTable& table, report::ByteSink sink);

// Experiments in the JSON document of results.

// Lists the experiments in the results, with at most limits.max_part_rows rows
// of seconds each.
nlohmann::ordered_json ExperimentsJson(const report::ReportInput& input,
                                       const report::JsonLimits& limits);

}  // namespace distbench::protection

#endif  // DISTBENCH_PRODUCTS_PROTECTION_REPORT_PROTECTION_TABLE_H_
