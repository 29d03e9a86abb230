// Conditions that a run or a comparison must meet, with their verdicts, for
// users and for CI.

#ifndef DISTBENCH_REPORT_VERDICTS_CHECK_H_
#define DISTBENCH_REPORT_VERDICTS_CHECK_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/report/verdicts/junit.h"

namespace distbench::report {

enum class CheckVerdict {
  kPass,
  kFail,
  kUndecided,  // the evidence is insufficient
};

struct Check {
  std::string test = {};
  std::string condition = {};  // as the user wrote it
  CheckVerdict verdict = CheckVerdict::kUndecided;

  // The evidence, such as "p99 12.1 ms (11.8 to 12.6)".
  std::string evidence = {};
};

// "pass", "FAIL" or "undecided".
std::string VerdictName(CheckVerdict verdict);

// Whether all checks passed; undecided ones count as passed if allow_undecided.
bool AllPass(absl::Span<const Check> checks, bool allow_undecided);

// Returns a line for each check, in aligned columns; empty if there are none.
std::string ChecksText(absl::Span<const Check> checks);

// Returns a Markdown table.
std::string ChecksMarkdown(absl::Span<const Check> checks);

// Returns a test case for each condition, in a test suite for each test. An
// undecided check is a failure, or skipped if allow_undecided.
std::vector<JunitCase> JunitCases(absl::Span<const Check> checks,
                                  bool allow_undecided);

// Returns these as JUnit XML.
std::string ChecksJunit(absl::Span<const Check> checks, bool allow_undecided);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_VERDICTS_CHECK_H_
