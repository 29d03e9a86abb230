// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Conditions that a run or a comparison must meet, with their verdicts, for
// users and for CI.

#ifndef DISTBENCH_REPORT_VERDICTS_CHECK_H_
#define DISTBENCH_REPORT_VERDICTS_CHECK_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace distbench::report {

// Writes texts from outside, such as names, into documents.

// The text for a cell of a Markdown table, on one line. GitHub shows it as it
// is: neither formatted nor as links, mentions or references.
std::string MarkdownText(absl::string_view text);

// A table of such cells, whose first row are the titles.
std::string MarkdownTable(const std::vector<std::vector<std::string>>& rows);

// The text for an attribute or the content of an XML element.
std::string XmlText(absl::string_view text);

// JUnit XML, which CI systems show.

struct JunitCase {
  enum class Outcome {
    kPass,
    kFailure,
    kError,  // what should have been judged is not valid
    kSkipped,
  };

  std::string suite;
  std::string name;
  Outcome outcome;

  // What was found.
  std::string message;
};

// Returns a test suite for each name of one, in order of appearance. Each has
// the remarks, which are sentences about all of them.
std::string RenderJunit(absl::Span<const JunitCase> cases,
                        absl::Span<const std::string> remarks = {});

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

// Judges a measurement that lies between two bounds, which are absent where
// nothing is known, by what it may be at most, or must be at least: passed if
// all values between the bounds do, failed if none does.
CheckVerdict JudgeBounds(const std::optional<double>& lower,
                         const std::optional<double>& upper, double limit,
                         bool is_upper_limit);

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

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_VERDICTS_CHECK_H_
