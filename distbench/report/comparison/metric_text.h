// Formats compared metrics for users.

#ifndef DISTBENCH_REPORT_COMPARISON_METRIC_TEXT_H_
#define DISTBENCH_REPORT_COMPARISON_METRIC_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/stats/metric.h"

namespace distbench::report {

// Formats a latency in a unit that suits it, such as "1.25 ms".
std::string LatencyText(double ns);

// "1.25 ms", "314.7/s" or "0.100%".
std::string FormatValue(const stats::Metric& metric, double value);

// Formats a ratio as "x1.362", a difference of shares as "+0.100pp".
std::string FormatChange(const stats::Metric& metric, double change);

// "x1.068 to x1.736", or "-" without an interval.
std::string FormatInterval(const MetricComparison& comparison);

// "better", "worse", "no difference", "not shown" or "not comparable", as the
// Python package has them.
absl::string_view VerdictName(ComparisonVerdict verdict);

// Whether the change exceeds the noise floor, which must be known: a rise by x
// or a fall by x / (1 + x) for ratios.
bool IsBeyondNoise(const MetricComparison& comparison);

// A verdict as a phrase, with its reason, and the noise floor beside it.
std::string VerdictText(const MetricComparison& comparison);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_COMPARISON_METRIC_TEXT_H_
