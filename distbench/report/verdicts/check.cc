#include "distbench/report/verdicts/check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/report/verdicts/escape.h"

namespace distbench::report {
namespace {

bool Passes(const Check& check, bool allow_undecided) {
  return check.verdict == CheckVerdict::kPass ||
         (check.verdict == CheckVerdict::kUndecided && allow_undecided);
}

JunitCase::Outcome OutcomeOf(const Check& check, bool allow_undecided) {
  if (!Passes(check, allow_undecided)) return JunitCase::Outcome::kFailure;
  return check.verdict == CheckVerdict::kUndecided
             ? JunitCase::Outcome::kSkipped
             : JunitCase::Outcome::kPass;
}

}  // namespace

std::string VerdictName(CheckVerdict verdict) {
  switch (verdict) {
    case CheckVerdict::kPass:
      return "pass";
    case CheckVerdict::kFail:
      return "FAIL";
    case CheckVerdict::kUndecided:
      return "undecided";
  }
  return "";
}

bool AllPass(absl::Span<const Check> checks, bool allow_undecided) {
  return std::all_of(checks.begin(), checks.end(), [&](const Check& check) {
    return Passes(check, allow_undecided);
  });
}

std::string ChecksText(absl::Span<const Check> checks) {
  size_t test_width = 0;
  size_t condition_width = 0;
  for (const Check& check : checks) {
    test_width = std::max(test_width, check.test.size());
    condition_width = std::max(condition_width, check.condition.size());
  }
  std::string text;
  for (const Check& check : checks) {
    absl::StrAppendFormat(&text, "%-9s  %-*s  %-*s  %s\n",
                          VerdictName(check.verdict), test_width, check.test,
                          condition_width, check.condition, check.evidence);
  }
  return text;
}

std::string ChecksMarkdown(absl::Span<const Check> checks) {
  std::vector<std::vector<std::string>> rows = {
      {"verdict", "test", "condition", "evidence"}};
  for (const Check& check : checks) {
    rows.push_back({VerdictName(check.verdict), check.test, check.condition,
                    check.evidence});
  }
  return MarkdownTable(rows);
}

std::vector<JunitCase> JunitCases(absl::Span<const Check> checks,
                                  bool allow_undecided) {
  std::vector<JunitCase> cases;
  for (const Check& check : checks) {
    const JunitCase::Outcome outcome = OutcomeOf(check, allow_undecided);
    cases.push_back({.suite = check.test,
                     .name = check.condition,
                     .outcome = outcome,
                     .message = outcome == JunitCase::Outcome::kPass
                                    ? check.evidence
                                    : absl::StrCat(VerdictName(check.verdict),
                                                   ": ", check.evidence)});
  }
  return cases;
}

std::string ChecksJunit(absl::Span<const Check> checks, bool allow_undecided) {
  return RenderJunit(JunitCases(checks, allow_undecided));
}

}  // namespace distbench::report
