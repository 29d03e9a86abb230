#ifndef DISTBENCH_REPORT_COMPARISON_COMPARE_TEXT_H_
#define DISTBENCH_REPORT_COMPARISON_COMPARE_TEXT_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/report/comparison/compare.h"

namespace distbench {

// Formats comparisons for users: a table per RPC, with verdicts.
std::string DescribeComparisons(absl::Span<const TestComparison> comparisons);

// Formats a latency in a unit that suits it, such as "1.25 ms".
std::string LatencyText(double ns);

}  // namespace distbench

#endif  // DISTBENCH_REPORT_COMPARISON_COMPARE_TEXT_H_
