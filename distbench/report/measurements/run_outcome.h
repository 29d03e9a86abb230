// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// How a run of a test ended: the one judgement of it. Searches, sizings,
// experiments, jobs, gates and exit codes differ only in what they make of it.

#ifndef DISTBENCH_REPORT_MEASUREMENTS_RUN_OUTCOME_H_
#define DISTBENCH_REPORT_MEASUREMENTS_RUN_OUTCOME_H_

#include <string>
#include <vector>

#include "distbench/report/measurements/test_totals.h"
#include "proto/results.pb.h"

namespace distbench::report {

enum class RunOutcome {
  kMeasured,  // ran to its end
  kInvalid,   // ran to its end, but a finding says that its numbers are false

  // Ended early, because more was asked of the system than it did: one of the
  // test's overload_limits was reached, or the traffic still went on when the
  // test_timeout was. Of a load, both say that it is far too high.
  kOverloaded,
  kTimedOut,

  // Ended early or never began, for another reason, such as a lost node: says
  // nothing about the load.
  kLost,
};

RunOutcome OutcomeOf(const TestResult& result);

// The outcome for people and programs, the worst that applies: "failed" (did
// not run to its end), "invalid", "warn" or "ok". The totals are the result's.
std::string RunVerdict(const TestResult& result, const TestTotals& totals);
std::string RunVerdict(const TestResult& result);

inline bool WasTooMuch(RunOutcome outcome) {
  return outcome == RunOutcome::kOverloaded || outcome == RunOutcome::kTimedOut;
}

// Why the run is not kMeasured, to follow its name: "did not run to its end:
// node1 was lost", "is invalid: ..."; empty if it is.
std::string WhyNotMeasured(const TestResult& result);

// What the findings say that make a run invalid.
struct InvalidCauses {
  bool requests_failed = false;
  bool generator = false;  // did not send what was due, or not in time
  bool other = false;      // nothing that the load explains
};

// The totals are the result's.
InvalidCauses InvalidCausesOf(const TestResult& result,
                              const TestTotals& totals);

// What other programs, or other guests of the hypervisor, did to the run: the
// messages of its findings about that.
std::vector<std::string> DisturbancesOf(const TestResult& result);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_RUN_OUTCOME_H_
