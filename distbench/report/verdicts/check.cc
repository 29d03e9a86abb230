#include "distbench/report/verdicts/check.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace distbench {
namespace {

bool Passes(const Check& check, bool allow_undecided) {
  return check.verdict == CheckVerdict::kPass ||
         (check.verdict == CheckVerdict::kUndecided && allow_undecided);
}

std::string MarkdownCell(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"\\", "\\\\"}, {"|", "\\|"}, {"<", "&lt;"}, {"\n", " "}});
}

// XML 1.0 cannot represent most control characters.
std::string XmlText(absl::string_view text) {
  std::string printable;
  for (const char c : text) {
    printable += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return absl::StrReplaceAll(printable, {{"&", "&amp;"},
                                         {"<", "&lt;"},
                                         {">", "&gt;"},
                                         {"\"", "&quot;"}});
}

void AppendJunitCase(const Check& check, bool allow_undecided,
                     std::string& xml) {
  absl::StrAppend(&xml, "    <testcase classname=\"", XmlText(check.test),
                  "\" name=\"", XmlText(check.condition), "\">");
  const std::string message =
      XmlText(absl::StrCat(VerdictName(check.verdict), ": ", check.evidence));
  if (!Passes(check, allow_undecided)) {
    absl::StrAppend(&xml, "<failure message=\"", message, "\"/>");
  } else if (check.verdict == CheckVerdict::kUndecided) {
    absl::StrAppend(&xml, "<skipped message=\"", message, "\"/>");
  } else {
    absl::StrAppend(&xml, "<system-out>", XmlText(check.evidence),
                    "</system-out>");
  }
  xml += "</testcase>\n";
}

// The checks of each test, and the tests in order of appearance.
struct Suites {
  std::vector<std::string> tests;
  std::map<std::string, std::vector<const Check*>> checks;
};

Suites SuitesOf(absl::Span<const Check> checks) {
  Suites suites;
  for (const Check& check : checks) {
    std::vector<const Check*>& of_test = suites.checks[check.test];
    if (of_test.empty()) suites.tests.push_back(check.test);
    of_test.push_back(&check);
  }
  return suites;
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
  std::string text =
      "| verdict | test | condition | evidence |\n|---|---|---|---|\n";
  for (const Check& check : checks) {
    absl::StrAppend(&text, "| ", VerdictName(check.verdict), " | ",
                    MarkdownCell(check.test), " | ",
                    MarkdownCell(check.condition), " | ",
                    MarkdownCell(check.evidence), " |\n");
  }
  return text;
}

std::string ChecksJunit(absl::Span<const Check> checks, bool allow_undecided) {
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  const Suites suites = SuitesOf(checks);
  for (const std::string& test : suites.tests) {
    const std::vector<const Check*>& cases = suites.checks.at(test);
    const auto count = [&](bool failed) {
      return std::count_if(cases.begin(), cases.end(), [&](const Check* check) {
        return failed ? !Passes(*check, allow_undecided)
                      : Passes(*check, allow_undecided) &&
                            check->verdict == CheckVerdict::kUndecided;
      });
    };
    absl::StrAppend(&xml, "  <testsuite name=\"", XmlText(test), "\" tests=\"",
                    cases.size(), "\" failures=\"", count(true),
                    "\" skipped=\"", count(false), "\">\n");
    for (const Check* check : cases) {
      AppendJunitCase(*check, allow_undecided, xml);
    }
    xml += "  </testsuite>\n";
  }
  return xml + "</testsuites>\n";
}

}  // namespace distbench
