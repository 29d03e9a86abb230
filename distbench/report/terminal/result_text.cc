#include "distbench/report/terminal/result_text.h"

#include "absl/strings/str_cat.h"
#include "distbench/report/terminal/terminal_view.h"

namespace distbench::report {

std::string ResultText(const TestResult& result,
                       const ResultTextOptions& options) {
  const base::Terminal& terminal = options.terminal;
  if (terminal.is_terminal) {
    return TerminalView(result, {.style = {.columns = terminal.columns,
                                           .has_color = terminal.has_color},
                                 .rows = terminal.rows,
                                 .verbose = options.verbose,
                                 .objectives = options.objectives});
  }
  std::string text = "Test summary:\n";
  for (const std::string& line : result.log_summary()) {
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

}  // namespace distbench::report
