#include "distbench/report/findings/verdict.h"

#include <algorithm>

namespace distbench::report {

bool IsInvalid(const TestResult& result) {
  const auto& findings = result.run_info().findings();
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) {
                       return finding.severity() == Finding::INVALID;
                     });
}

int ExitCodeFor(const TestSequenceResults& results, bool allow_invalid) {
  const auto& tests = results.test_results();
  const bool ok = std::none_of(tests.begin(), tests.end(),
                               [allow_invalid](const TestResult& test) {
                                 return test.run_info().has_failure() ||
                                        (IsInvalid(test) && !allow_invalid);
                               });
  return ok ? kExitOk : kExitRunFailed;
}

}  // namespace distbench::report
