// Turns the validity of results into process exit codes.

#ifndef DISTBENCH_REPORT_FINDINGS_VERDICT_H_
#define DISTBENCH_REPORT_FINDINGS_VERDICT_H_

#include "proto/results.pb.h"

namespace distbench::report {

// Exit codes of all subcommands.
enum ExitCode {
  kExitOk = 0,
  kExitUsage = 1,       // wrong usage or config, found before any traffic
  kExitGateNotMet = 2,  // an objective or gate was not met
  kExitRunFailed = 3,   // the run failed, or its numbers are false
};

// Whether any finding says that the numbers are false.
bool IsInvalid(const TestResult& result);

// kExitRunFailed if a test failed, or is invalid and invalid results are not
// allowed; otherwise kExitOk.
int ExitCodeFor(const TestSequenceResults& results, bool allow_invalid = false);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_FINDINGS_VERDICT_H_
