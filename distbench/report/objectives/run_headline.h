// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What a run is worth, in the words that are the same wherever runs are shown:
// on terminals, on pages, in lists.

#ifndef DISTBENCH_REPORT_OBJECTIVES_RUN_HEADLINE_H_
#define DISTBENCH_REPORT_OBJECTIVES_RUN_HEADLINE_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/verdicts/check.h"
#include "proto/results.pb.h"

namespace distbench::report {

struct RunHeadline {
  // The first that applies of "failed", "invalid", "missed", "undecided" (of
  // its objectives), "nothing measured" (no RPC succeeded after the warm-up),
  // "warn" and "ok". RunVerdict() is only about whether the numbers are true.
  std::string verdict;

  // "1 missed, 1 undecided of 2 objectives"; empty if there are none.
  std::string objectives;

  // Of findings, and of instances that stopped early.
  int64_t warning_count = 0;
};

// `objectives` are the verdicts on all objectives of the run (see
// CheckObjectives()); the totals are the result's.
RunHeadline HeadlineOf(const TestResult& result, const TestTotals& totals,
                       absl::Span<const Check> objectives);

// "1 missed of 2 objectives; 4 warnings", to follow the verdict. Empty without
// objectives: the findings are then all that the verdict is about.
std::string DoubtsText(const RunHeadline& headline);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_OBJECTIVES_RUN_HEADLINE_H_
