// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_REPORT_FINDINGS_FINDINGS_H_
#define DISTBENCH_REPORT_FINDINGS_FINDINGS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "proto/results.pb.h"

namespace distbench::report {

// Judges from a run's own measurements whether its numbers can be trusted.

// Examines what a test measured about itself: the load that it offered and
// sent, its lateness, whether latencies had settled, how busy the hosts were,
// and how accurate their clocks are. Each finding says what was found, what it
// means and what to do (see Finding). docs/measuring.md lists the codes and
// their limits.
//
// Products add their own findings by a FindingRule (parts/finding_rule.h).
//
// A finding is INVALID only if the numbers are false. A closed loop that
// saturates the machine is working as intended.
//
// Requires service_logs, but no samples. Does not look at the findings that the
// result already contains, which may be those of an earlier call.
std::vector<Finding> Judge(const TestResult& result);

// Replaces the findings of Judge() in the result by what it says now. Those of
// nodes, of the sequencer and of commands stay, in front.
void JudgeAgain(TestResult& result);

// Whether a finding is that measurements are brief: of a result that was made
// brief for its summary, this says nothing about the run.
bool IsOnBrevity(const Finding& finding);

// Turns the validity of results into process exit codes.

// Exit codes of all subcommands.
enum ExitCode {
  kExitOk = 0,
  kExitUsage = 1,       // wrong usage or config, found before any traffic
  kExitGateNotMet = 2,  // an objective or gate was not met
  kExitRunFailed = 3,   // the run failed, or its numbers are false
};

// kExitRunFailed if a test failed, or is invalid and invalid results are not
// allowed; otherwise kExitOk.
int ExitCodeFor(const TestSequenceResults& results, bool allow_invalid = false);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_FINDINGS_FINDINGS_H_
