// Whether a run may be believed, as a process exit code.

#ifndef DISTBENCH_REPORT_FINDINGS_VERDICT_H_
#define DISTBENCH_REPORT_FINDINGS_VERDICT_H_

#include "proto/results.pb.h"

namespace distbench {

// The exit codes of all subcommands.
enum ExitCode {
  kExitOk = 0,
  kExitUsage = 1,       // wrong usage or config, before any traffic
  kExitGateNotMet = 2,  // an objective or gate was not met
  kExitRunFailed = 3,   // the run failed, or its numbers are false
};

// Whether a finding says that the numbers are false.
bool IsInvalid(const TestResult& result);

// kExitOk, or kExitRunFailed if a test failed, or is invalid and that is not
// allowed.
int ExitCodeFor(const TestSequenceResults& results, bool allow_invalid = false);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_FINDINGS_VERDICT_H_
