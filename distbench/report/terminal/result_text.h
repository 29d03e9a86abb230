#ifndef DISTBENCH_REPORT_TERMINAL_RESULT_TEXT_H_
#define DISTBENCH_REPORT_TERMINAL_RESULT_TEXT_H_

#include <string>
#include <vector>

#include "distbench/base/terminal.h"
#include "proto/results.pb.h"

namespace distbench::report {

struct ResultTextOptions {
  base::Terminal terminal = {};  // what the text is for

  // For terminals only: adds all details, and judges these objectives in
  // addition to those of the test.
  bool verbose = false;
  std::vector<std::string> objectives = {};
};

// Returns what a command prints of a test's result: on a terminal, the view for
// people; elsewhere, a line "Test summary:" and the stored summary, which
// programs parse.
std::string ResultText(const TestResult& result,
                       const ResultTextOptions& options);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TERMINAL_RESULT_TEXT_H_
