// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The result of a test for a person at a terminal.

#ifndef DISTBENCH_REPORT_TERMINAL_TERMINAL_VIEW_H_
#define DISTBENCH_REPORT_TERMINAL_TERMINAL_VIEW_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/base/terminal.h"
#include "proto/results.pb.h"

namespace distbench::report {

struct ResultTextOptions {
  // What the text is for. Lists that are longer than the screen are left out of
  // the view.
  base::Terminal terminal = {};

  // For the view only: adds the whole text summary, and judges these objectives
  // in addition to those of the test.
  bool verbose = false;
  std::vector<std::string> objectives = {};

  // For the view only: what follows the name of the test, such as the number of
  // its repetition, and the flag that gives the lists that were left out.
  std::string name_suffix = {};
  absl::string_view flag_of_lists = "--verbose";
};

// Returns the verdict on the run, its findings, the verdicts on its objectives,
// then rates, latencies and failures of each RPC and, if they are few, of each
// pair of instances. Percentiles with fewer than ten RPCs beyond them are left
// out. The stored summary takes the place of the measurements if the result has
// none.
//
// The text is for people, and may change; programs read the text summary
// (report/text/text_summary.h) or the other formats.
std::string TerminalView(const TestResult& result,
                         const ResultTextOptions& options);

// Returns what a command prints of a test's result: on a terminal, the view for
// people; elsewhere, a line "Test summary:" and the stored summary, which
// programs parse.
std::string ResultText(const TestResult& result,
                       const ResultTextOptions& options);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_TERMINAL_TERMINAL_VIEW_H_
