// Renders tables as comma-separated values.

#ifndef DISTBENCH_REPORT_TABLES_CSV_H_
#define DISTBENCH_REPORT_TABLES_CSV_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/parts/report_format.h"
#include "distbench/report/tables/table.h"

namespace distbench::report {

// Renders the header, then the rows of all runs, as in RFC 4180 except that
// lines end with a line feed. The columns source, test and repetition precede
// those of the table. Memory use does not grow with the number of rows.
void RenderCsv(absl::Span<const TestRun> runs, const ReportTable& table,
               ByteSink sink);

// The cells as a line, with its end.
std::string CsvLine(const Row& row);

// The text as a cell, quoted if necessary. Text that a spreadsheet would take
// for a formula gets an apostrophe in front, as it does when one is typed
// there: names and errors may come from others.
std::string CsvText(absl::string_view text);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TABLES_CSV_H_
