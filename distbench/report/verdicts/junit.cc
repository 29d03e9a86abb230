#include "distbench/report/verdicts/junit.h"

#include <algorithm>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/report/verdicts/escape.h"

namespace distbench::report {
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
                 std::string& xml) {
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
  xml += "  </testsuite>\n";
}

}  // namespace

std::string RenderJunit(absl::Span<const JunitCase> cases) {
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
    AppendSuite(name, suites[name], xml);
  }
  return xml + "</testsuites>\n";
}

}  // namespace distbench::report
