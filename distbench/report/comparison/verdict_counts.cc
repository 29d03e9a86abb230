#include "distbench/report/comparison/verdict_counts.h"

#include "absl/strings/str_format.h"

namespace distbench::report {

void VerdictCounts::Add(ComparisonVerdict verdict) {
  switch (verdict) {
    case ComparisonVerdict::kBetter:
      ++better;
      break;
    case ComparisonVerdict::kWorse:
      ++worse;
      break;
    case ComparisonVerdict::kNoDifference:
      ++no_difference;
      break;
    case ComparisonVerdict::kNotShown:
      ++not_shown;
      break;
    case ComparisonVerdict::kNotComparable:
      ++not_comparable;
      break;
  }
}

VerdictCounts CountVerdicts(absl::Span<const TestComparison> comparisons) {
  VerdictCounts counts;
  for (const TestComparison& test : comparisons) {
    for (const RpcComparison& rpc : test.rpcs) {
      for (const MetricComparison& metric : rpc.metrics) {
        counts.Add(metric.verdict);
      }
      if (!rpc.distribution.p_value) continue;
      ++counts.distributions;
      if (rpc.distribution.differs()) ++counts.differing_distributions;
    }
  }
  return counts;
}

std::vector<std::string> Cautions(const VerdictCounts& counts) {
  std::vector<std::string> cautions;
  const int judged = counts.judged() + counts.distributions;
  if (judged > 0) {
    cautions.push_back(absl::StrFormat(
        "%d verdicts. If nothing has changed, about one in %.0f says better, "
        "worse or differs by chance.",
        judged, 1 / (1 - kCompareConfidence)));
  }
  if (counts.not_shown > 0) {
    cautions.push_back(
        "Single runs cannot distinguish a change from the usual spread between "
        "runs: run both with --repeat=5 or more.");
  }
  return cautions;
}

}  // namespace distbench::report
