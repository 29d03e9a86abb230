#include "distbench/report/verdict.h"

#include <algorithm>

namespace distbench {
namespace {

bool IsValid(const TestResult& result) {
  const RunInfo& run_info = result.run_info();
  return !run_info.has_failure() &&
         std::none_of(run_info.findings().begin(), run_info.findings().end(),
                      [](const Finding& finding) {
                        return finding.severity() == Finding::INVALID;
                      });
}

}  // namespace

int ExitCodeFor(const TestSequenceResults& results) {
  const auto& tests = results.test_results();
  return std::all_of(tests.begin(), tests.end(), IsValid) ? kExitOk
                                                          : kExitRunFailed;
}

}  // namespace distbench
