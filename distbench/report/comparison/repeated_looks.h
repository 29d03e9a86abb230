// Levels of significance for data that are looked at again and again.

#ifndef DISTBENCH_REPORT_COMPARISON_REPEATED_LOOKS_H_
#define DISTBENCH_REPORT_COMPARISON_REPEATED_LOOKS_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"
#include "proto/results.pb.h"

namespace distbench::report {

// A plan to judge after every run from the first look to the last, and to stop
// as soon as there is a verdict. Requires 1 <= first <= last <= kMaxLooks.
struct LookPlan {
  int first = 1;
  int last = 1;
};

inline constexpr int kMaxLooks = 200;

// Returns the levels, one-sided, at which to judge after each number of runs
// from plan.first to plan.last, so that the probability of a false verdict at
// any look is at most `error`, whatever rule stops the runs. Requires `error`
// in (0, 0.5).
//
// The error is spent over the looks by K. K. G. Lan and D. L. DeMets, Discrete
// Sequential Boundaries for Clinical Trials, Biometrika 70 (1983) 659-663, with
// their second function, error * ln(1 + (e - 1) * runs / plan.last). It
// resembles the boundary of Pocock, which decides early if it can. The
// boundary is found by the recursion of P. Armitage, C. K. McPherson and B. C.
// Rowe, Repeated Significance Tests on Accumulating Data, JRSS A 132 (1969)
// 235-244, for normal increments. Where the variance is estimated, the level is
// used with Student's t: C. Jennison and B. W. Turnbull, Group Sequential
// Methods, Chapman & Hall 2000, section 4.4. Bounds at these levels are
// repeated confidence bounds (chapter 9 there).
std::vector<double> LevelsOfLooks(double error, const LookPlan& plan);

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
absl::StatusOr<std::optional<LookPlan>> LookPlanOf(
    absl::Span<const TestRun> base, absl::Span<const TestRun> next);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_COMPARISON_REPEATED_LOOKS_H_
