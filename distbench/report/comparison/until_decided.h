// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Runs that are repeated until a comparison of them is decided.

#ifndef DISTBENCH_REPORT_COMPARISON_UNTIL_DECIDED_H_
#define DISTBENCH_REPORT_COMPARISON_UNTIL_DECIDED_H_

#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/stats/repeated_looks.h"
#include "proto/results.pb.h"

namespace distbench::report {

// How it was decided how many runs to make, which results say themselves: the
// bounds of runs that were repeated until they decided must be wider.

// Fewer runs of each are not judged: what they say about the spread is too
// uncertain.
inline constexpr int kFirstLook = 4;

// Notes in the result's attribute "until_decided" that its test is run until a
// comparison is decided, at most most_runs times.
void MarkUntilDecided(int most_runs, TestResult& result);

// Returns the plan by which the runs were repeated; absent if they do not have
// the attribute, so that their number was chosen beforehand. INVALID_ARGUMENT
// if the attribute is wrong, or if there are more runs than it allows.
absl::StatusOr<std::optional<stats::LookPlan>> LookPlanOf(
    absl::Span<const TestRun> base, absl::Span<const TestRun> next);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_COMPARISON_UNTIL_DECIDED_H_
