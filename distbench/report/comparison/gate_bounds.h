// The bounds of a change by which gates judge it.

#ifndef DISTBENCH_REPORT_COMPARISON_GATE_BOUNDS_H_
#define DISTBENCH_REPORT_COMPARISON_GATE_BOUNDS_H_

#include "distbench/report/comparison/compare.h"
#include "distbench/stats/welch_interval.h"

namespace distbench::report {

// Returns the change with a lower and an upper bound, each of which is wrong
// with a probability of at most `error`. The bounds are those of ChangeOf(),
// but no narrower than the measurements allow, so that runs that happen to be
// alike are not taken for certainty:
// - percentiles by the resolution of their histograms;
// - shares of failures by what independent RPCs would leave open. Where none of
//   n RPCs failed, that is a share of up to -ln(error) / n, the "rule of
//   three": J. A. Hanley and A. Lippman-Hand, If Nothing Goes Wrong, Is
//   Everything All Right?, JAMA 249 (1983) 1743-1745.
stats::Difference BoundsOf(const MetricComparison& comparison, double error);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_COMPARISON_GATE_BOUNDS_H_
