// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The noise floor of a cluster: how far apart two groups of runs of one test
// are although nothing has changed.

#ifndef DISTBENCH_REPORT_COMPARISON_NOISE_FLOOR_H_
#define DISTBENCH_REPORT_COMPARISON_NOISE_FLOOR_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/stats/metric.h"

namespace distbench::report {

// Fewer runs do not show how runs vary.
inline constexpr int kMinNoiseRuns = 3;

// Says why the runs of a test have no noise floor; empty if they have one.
std::string WhyNoNoiseFloor(absl::Span<const TestRun> runs);

// Returns the change of the metric that the means of a group of base_runs and
// of one of next_runs further runs stay within, in either direction, with a
// probability of 95 %: a share (0.04 is 4 %) or, for failures, a difference of
// shares. `values` are those of the runs of one test. Absent if they are fewer
// than kMinNoiseRuns, or have no ratio because one is not positive. This is the
// t interval for the difference of two means, with the standard deviation of
// the values (for ratios, of their logarithms) and their degrees of freedom. A
// rise by x and a fall by x / (1 + x) are equally likely where the metric is
// compared by ratio; x is returned.
std::optional<double> NoiseFloor(const stats::Metric& metric,
                                 absl::Span<const double> values, int base_runs,
                                 int next_runs);

// Returns the runs from which the noise floor of a test is known: those of the
// same name as base, or all if they are of a single test. Returns none, and
// notes why, if they cannot be used: they are too few or invalid, or send
// something else. Also notes conditions that differ from those of base. Neither
// returns nor notes anything if there are no noise_runs.
std::vector<TestRun> FindNoiseRuns(absl::Span<const TestRun> base,
                                   absl::Span<const TestRun> noise_runs,
                                   std::vector<std::string>& notes);

// "±4.0%", "x1.80" for a factor in either direction, or, for failures,
// "±0.010pp".
std::string NoiseText(const stats::Metric& metric, double noise_floor);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_COMPARISON_NOISE_FLOOR_H_
