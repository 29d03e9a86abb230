// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Levels of significance for data that are looked at again and again.

#ifndef DISTBENCH_STATS_REPEATED_LOOKS_H_
#define DISTBENCH_STATS_REPEATED_LOOKS_H_

#include <vector>

namespace distbench::stats {

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

}  // namespace distbench::stats

#endif  // DISTBENCH_STATS_REPEATED_LOOKS_H_
