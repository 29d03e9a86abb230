// Findings on work besides RPCs.

#include "absl/strings/str_cat.h"
#include "distbench/report/findings/judge_parts.h"

namespace distbench::report {
namespace {

int64_t MetricOf(const ActivityTotals& totals, const char* name) {
  const auto found = totals.metrics.find(name);
  return found == totals.metrics.end() ? 0 : found->second;
}

}  // namespace

void JudgeActivities(const TestResult& result, FindingList& findings) {
  for (const auto& [name, totals] : AddUpActivities(result)) {
    const int64_t failed = MetricOf(totals, "failed_operations");
    if (failed == 0) continue;
    findings.Add(
        Finding::WARN, "failed_operations",
        absl::StrCat(name, ": ", failed, " operations failed, in ",
                     MetricOf(totals, "iteration_count"),
                     " iterations: the system refused memory, processes, or "
                     "reads and writes. The activity did less work than it "
                     "was to do; lower its demand, or raise the limit of what "
                     "it needs"));
  }
}

}  // namespace distbench::report
