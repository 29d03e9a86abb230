#include "distbench/report/tables/csv.h"

#include <cmath>
#include <string>
#include <variant>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "distbench/report/measurements/test_run.h"

namespace distbench::report {
namespace {

// Whole numbers have no exponent; others have all significant digits.
void AppendNumber(double number, std::string& line) {
  constexpr double kExactlyWhole = 1e15;
  if (number == std::floor(number) && std::abs(number) < kExactlyWhole) {
    absl::StrAppendFormat(&line, "%.0f", number);
  } else {
    absl::StrAppendFormat(&line, "%.9g", number);
  }
}

void AppendCell(const Cell& cell, std::string& line) {
  if (const auto* integer = std::get_if<int64_t>(&cell)) {
    absl::StrAppend(&line, *integer);
  } else if (const auto* number = std::get_if<double>(&cell)) {
    AppendNumber(*number, line);
  } else if (const auto* text = std::get_if<std::string>(&cell)) {
    line += CsvText(*text);
  }
}

// Whether a spreadsheet would evaluate the text. Numbers and a lone sign are no
// formulas.
bool IsFormula(absl::string_view text) {
  double number = 0;
  return text.size() > 1 &&
         absl::string_view("=+-@\t\r").find(text[0]) !=
             absl::string_view::npos &&
         !absl::SimpleAtod(text, &number);
}

std::string Header(const ReportTable& table) {
  std::string line = "source,test,repetition";
  for (const std::string& column : table.columns) {
    line += ',';
    line += CsvText(column);
  }
  return line + ",simulated\n";
}

// The leading cells that all rows of the run share.
std::string RunCells(const TestRun& run) {
  return absl::StrCat(CsvText(run.source), ",", CsvText(run.name), ",",
                      run.repetition);
}

}  // namespace

std::string CsvText(absl::string_view text) {
  const std::string cell = absl::StrCat(IsFormula(text) ? "'" : "", text);
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  return absl::StrCat("\"", absl::StrReplaceAll(cell, {{"\"", "\"\""}}), "\"");
}

std::string CsvLine(const Row& row) {
  std::string line;
  for (const Cell& cell : row) {
    if (&cell != &row.front()) line += ',';
    AppendCell(cell, line);
  }
  return line + '\n';
}

void RenderCsv(absl::Span<const TestRun> runs, const ReportTable& table,
               ByteSink sink) {
  std::string page = Header(table);
  for (const TestRun& run : runs) {
    const std::string run_cells = RunCells(run);
    const char* const last_cell = IsSimulated(*run.result) ? ",1\n" : ",0\n";
    table.list_rows(*run.result, [&](const Row& row) {
      page += run_cells;
      for (const Cell& cell : row) {
        page += ',';
        AppendCell(cell, page);
      }
      page += last_cell;
      if (page.size() >= kPageBytes) {
        sink(page);
        page.clear();
      }
    });
  }
  sink(page);
}

}  // namespace distbench::report
