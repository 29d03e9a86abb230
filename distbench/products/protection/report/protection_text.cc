#include "distbench/products/protection/report/protection_text.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/products/protection/measures/matrix.h"
#include "distbench/products/protection/measures/notes.h"
#include "distbench/products/protection/report/text_parts.h"

namespace distbench::protection {
namespace {

std::string Title(const ProtectionMatrix& matrix) {
  const ExperimentReport& report = *matrix.report;
  std::string title = absl::StrCat("Protection: ", report.test_name());
  if (!matrix.subject.rpc.empty()) {
    absl::StrAppend(&title, ", RPC ", matrix.subject.rpc);
  }
  const std::string& objective = report.experiment().subject().objective();
  if (!objective.empty()) absl::StrAppend(&title, ", ", objective);
  if (report.has_capacity_per_second()) {
    absl::StrAppend(&title, ", capacity ",
                    matrix.is_capacity_least ? "at least " : "",
                    report.capacity_per_second(), " per second");
  }
  return absl::StrCat(title, "\n");
}

std::string MatrixText(const ProtectionMatrix& matrix) {
  std::string text = Title(matrix);
  if (!matrix.problem.empty()) {
    absl::StrAppend(&text, "Not measured: ", matrix.problem, "\n");
  } else {
    absl::StrAppend(&text, CellTable(matrix.cells));
  }
  for (const std::string& omission : matrix.report->omissions()) {
    absl::StrAppend(&text, "Note: ", omission, "\n");
  }
  for (const std::string& note : NotesOf(matrix)) {
    absl::StrAppend(&text, "Note: ", note, "\n");
  }
  for (const ProtectionCell& cell : matrix.cells) {
    absl::StrAppend(&text, "\n", CellSummary(cell));
  }
  return text;
}

std::string MatricesText(const std::vector<ProtectionMatrix>& matrices) {
  std::string text;
  for (const ProtectionMatrix& matrix : matrices) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", MatrixText(matrix));
  }
  return text;
}

}  // namespace

std::string ProtectionText(const TestSequenceResults& results) {
  return MatricesText(MeasureExperiments(results));
}

std::string ProtectionText(absl::Span<const report::TestRun> runs) {
  return MatricesText(MeasureExperiments(runs));
}

}  // namespace distbench::protection
