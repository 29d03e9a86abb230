// Tables as comma-separated values.

#ifndef DISTBENCH_REPORT_TABLES_CSV_H_
#define DISTBENCH_REPORT_TABLES_CSV_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/tables/table.h"

namespace distbench {

// Takes the bytes of a report, a piece at a time.
using ByteSink = absl::FunctionRef<void(absl::string_view bytes)>;

// As RFC 4180 has it, but that lines end with a line feed: a header, then the
// rows of all runs. In front of the table's columns are source, test and
// repetition. Memory does not grow with the number of rows.
void RenderCsv(absl::Span<const TestRun> runs, const ReportTable& table,
               ByteSink sink);

// The text as a cell, in quotes if it needs them.
std::string CsvText(absl::string_view text);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_TABLES_CSV_H_
