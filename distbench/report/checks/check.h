// Conditions that a run or a comparison must meet, for people and for CI.

#ifndef DISTBENCH_REPORT_CHECKS_CHECK_H_
#define DISTBENCH_REPORT_CHECKS_CHECK_H_

#include <string>

#include "absl/types/span.h"

namespace distbench {

enum class CheckVerdict {
  kPass,
  kFail,
  kUndecided,  // the evidence is too thin for either
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

// Whether each passed, or was undecided if that is allowed.
bool AllPass(absl::Span<const Check> checks, bool allow_undecided);

// A line for each check, in columns; empty if there is none.
std::string ChecksText(absl::Span<const Check> checks);

// A table.
std::string ChecksMarkdown(absl::Span<const Check> checks);

// JUnit XML as CI systems read it: a test suite for each test, a test case for
// each condition. What is undecided is a failure, or skipped if that is allowed.
std::string ChecksJunit(absl::Span<const Check> checks, bool allow_undecided);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_CHECKS_CHECK_H_
