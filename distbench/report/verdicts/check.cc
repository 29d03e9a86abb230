// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/verdicts/check.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "distbench/base/printable_line.h"

namespace distbench::report {

std::string MarkdownText(absl::string_view text) {
  // A comment splits what GitHub would make a link of.
  return absl::StrReplaceAll(base::PrintableLine(text),
                             {{"&", "&amp;"},
                              {"<", "&lt;"},
                              {"$", "&#36;"},
                              {"\\", "\\\\"},
                              {"`", "\\`"},
                              {"*", "\\*"},
                              {"_", "\\_"},
                              {"~", "\\~"},
                              {"[", "\\["},
                              {"]", "\\]"},
                              {"|", "\\|"},
                              {"@", "@<!-- -->"},
                              {"#", "#<!-- -->"},
                              {"://", ":<!-- -->//"},
                              {"www.", "www<!-- -->."}});
}

std::string MarkdownTable(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    text += '|';
    for (const std::string& cell : row) {
      absl::StrAppend(&text, " ", MarkdownText(cell), " |");
    }
    text += '\n';
    if (&row != &rows.front()) continue;
    text += '|';
    for (size_t i = 0; i < row.size(); ++i) text += "---|";
    text += '\n';
  }
  return text;
}

std::string XmlText(absl::string_view text) {
  // XML 1.0 does not have the last two of the first 65536 characters.
  return absl::StrReplaceAll(base::PrintableLine(text),
                             {{"&", "&amp;"},
                              {"<", "&lt;"},
                              {">", "&gt;"},
                              {"\"", "&quot;"},
                              {"\xef\xbf\xbe", " "},
                              {"\xef\xbf\xbf", " "}});
}

namespace {

using Outcome = JunitCase::Outcome;
using Cases = std::vector<const JunitCase*>;

std::string OutcomeElement(const JunitCase& junit_case) {
  const std::string message = XmlText(junit_case.message);
  switch (junit_case.outcome) {
    case Outcome::kPass:
      return absl::StrCat("<system-out>", message, "</system-out>");
    case Outcome::kFailure:
      return absl::StrCat("<failure message=\"", message, "\"/>");
    case Outcome::kError:
      return absl::StrCat("<error message=\"", message, "\"/>");
    case Outcome::kSkipped:
      return absl::StrCat("<skipped message=\"", message, "\"/>");
  }
  return "";
}

void AppendSuite(const std::string& name, const Cases& cases,
                 absl::Span<const std::string> remarks, std::string& xml) {
  const auto count = [&](Outcome outcome) {
    return std::count_if(cases.begin(), cases.end(),
                         [&](const JunitCase* junit_case) {
                           return junit_case->outcome == outcome;
                         });
  };
  absl::StrAppend(&xml, "  <testsuite name=\"", XmlText(name), "\" tests=\"",
                  cases.size(), "\" failures=\"", count(Outcome::kFailure),
                  "\" errors=\"", count(Outcome::kError), "\" skipped=\"",
                  count(Outcome::kSkipped), "\">\n");
  for (const JunitCase* junit_case : cases) {
    absl::StrAppend(&xml, "    <testcase classname=\"", XmlText(name),
                    "\" name=\"", XmlText(junit_case->name), "\">",
                    OutcomeElement(*junit_case), "</testcase>\n");
  }
  if (!remarks.empty()) {
    absl::StrAppend(&xml, "    <system-out>",
                    XmlText(absl::StrJoin(remarks, " ")), "</system-out>\n");
  }
  xml += "  </testsuite>\n";
}

}  // namespace

std::string RenderJunit(absl::Span<const JunitCase> cases,
                        absl::Span<const std::string> remarks) {
  std::vector<std::string> names;
  std::map<std::string, Cases> suites;
  for (const JunitCase& junit_case : cases) {
    Cases& suite = suites[junit_case.suite];
    if (suite.empty()) names.push_back(junit_case.suite);
    suite.push_back(&junit_case);
  }
  std::string xml =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (const std::string& name : names) {
    AppendSuite(name, suites[name], remarks, xml);
  }
  return xml + "</testsuites>\n";
}

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

CheckVerdict JudgeBounds(const std::optional<double>& lower,
                         const std::optional<double>& upper, double limit,
                         bool is_upper_limit) {
  if (is_upper_limit) {
    if (upper && *upper <= limit) return CheckVerdict::kPass;
    if (lower && *lower > limit) return CheckVerdict::kFail;
  } else {
    if (lower && *lower >= limit) return CheckVerdict::kPass;
    if (upper && *upper < limit) return CheckVerdict::kFail;
  }
  return CheckVerdict::kUndecided;
}

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

}  // namespace distbench::report
