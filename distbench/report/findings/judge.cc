#include "distbench/report/findings/judge.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/report/findings/judge_parts.h"

namespace distbench {
namespace {

// Share of RPCs above which failures are more than a note.
constexpr double kManyFailures = 0.01;

}  // namespace

void FindingList::Add(Finding::Severity severity, absl::string_view code,
                      std::string message) {
  Finding& finding = findings_.emplace_back();
  finding.set_severity(severity);
  finding.set_code(std::string(code));
  finding.set_message(std::move(message));
}

std::string Percent(double share) {
  const int digits = share < 0.001 ? 3 : 1;
  return absl::StrFormat("%.*f %%", digits, 100 * share);
}

std::string Duration(double ns) {
  if (ns < 1e6) return absl::StrFormat("%.1f us", ns / 1e3);
  if (ns < 1e9) return absl::StrFormat("%.2f ms", ns / 1e6);
  return absl::StrFormat("%.2f s", ns / 1e9);
}

// Judges failures, and samples that were not kept.
void JudgeOutcome(const TestResult& result, const TestTotals& totals,
                  FindingList& findings) {
  for (const auto& [name, rpc] : totals.rpcs) {
    const int64_t failed = rpc.counts.failed_count;
    if (failed == 0) continue;
    const double share = static_cast<double>(failed) /
                         (static_cast<double>(failed) +
                          static_cast<double>(rpc.counts.succeeded_count));
    findings.Add(share > kManyFailures ? Finding::WARN : Finding::NOTE,
                 "failed_rpcs",
                 absl::StrCat(name, ": ", failed, " RPCs (", Percent(share),
                              ") failed. Latencies do not include them and may "
                              "look better because of that. The summary lists "
                              "the causes"));
  }
  // A failed test already explains why there is nothing.
  if (totals.all.succeeded_count == 0 && !result.run_info().has_failure()) {
    findings.Add(Finding::WARN, "nothing_measured",
                 "no RPC succeeded after the warm-up, so there is nothing to "
                 "report; look at the failures, or shorten the warm-up");
  }
  const bool samples_wanted = result.traffic_config().sample_memory_bytes() > 0;
  if (totals.all.dropped_sample_count > 0 && samples_wanted) {
    findings.Add(
        Finding::NOTE, "samples_dropped",
        absl::StrCat("samples of ", totals.all.dropped_sample_count,
                     " RPCs were not kept; the kept ones were chosen at "
                     "random. Counts and percentiles cover every RPC. To keep "
                     "more, raise sample_memory_bytes or max_rpc_samples"));
  }
}

std::vector<Finding> Judge(const TestResult& result) {
  const TestTotals totals = AddUp(result);
  FindingList findings;
  JudgeLoad(result, findings);
  JudgeLateness(result, totals, findings);
  JudgeArrivals(result, findings);
  JudgeSteadiness(result, findings);
  JudgeOutcome(result, totals, findings);
  JudgeHosts(result, findings);
  JudgeBindings(result, findings);
  JudgeClocks(result, findings);
  return findings.Take();
}

}  // namespace distbench
