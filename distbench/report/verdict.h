// Whether a run may be believed, as a process exit code.

#ifndef DISTBENCH_REPORT_VERDICT_H_
#define DISTBENCH_REPORT_VERDICT_H_

#include "proto/results.pb.h"

namespace distbench {

// The exit codes of all subcommands.
enum ExitCode {
  kExitOk = 0,
  kExitUsage = 1,       // wrong usage or config, before any traffic
  kExitGateNotMet = 2,  // an objective or gate was not met
  kExitRunFailed = 3,   // the run failed, or its numbers are false
};

// kExitOk, or kExitRunFailed if a test failed or has an INVALID finding.
int ExitCodeFor(const TestSequenceResults& results);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_VERDICT_H_
