// How many verdicts of each kind comparisons have.

#ifndef DISTBENCH_REPORT_COMPARISON_VERDICT_COUNTS_H_
#define DISTBENCH_REPORT_COMPARISON_VERDICT_COUNTS_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "distbench/report/comparison/compare.h"

namespace distbench::report {

struct VerdictCounts {
  // Of metrics.
  int better = 0;
  int worse = 0;
  int no_difference = 0;
  int not_shown = 0;
  int not_comparable = 0;

  // Those that could be judged.
  int distributions = 0;
  int differing_distributions = 0;

  void Add(ComparisonVerdict verdict);

  // Metrics that could be judged.
  int judged() const { return better + worse + no_difference; }
};

VerdictCounts CountVerdicts(absl::Span<const TestComparison> comparisons);

// What readers of these verdicts should bear in mind, in sentences.
std::vector<std::string> Cautions(const VerdictCounts& counts);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_COMPARISON_VERDICT_COUNTS_H_
