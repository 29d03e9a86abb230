#include "distbench/report/findings/judge.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/report/findings/judge_parts.h"

namespace distbench {
namespace {

// Shares of an RPC's failures above which they are more than a note, and above
// which what is left says nothing of the system.
constexpr double kManyFailures = 0.01;
constexpr double kMostFailures = 0.5;

Finding::Severity SeverityOfFailures(double share) {
  if (share > kMostFailures) return Finding::INVALID;
  return share > kManyFailures ? Finding::WARN : Finding::NOTE;
}

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

// What became of the RPCs, and of their samples.
void JudgeOutcome(const TestResult& result, const TestTotals& totals,
                  FindingList& findings) {
  for (const auto& [name, rpc] : totals.rpcs) {
    const int64_t failed = rpc.counts.failed_count;
    if (failed == 0) continue;
    const double share = static_cast<double>(failed) /
                         (static_cast<double>(failed) +
                          static_cast<double>(rpc.counts.succeeded_count));
    findings.Add(SeverityOfFailures(share), "failed_rpcs",
                 absl::StrCat(name, ": ", failed, " RPCs (", Percent(share),
                              ") failed; they are not in the section \"RPC "
                              "latency\", and rank above all latencies "
                              "elsewhere. The summary lists the causes"));
  }
  // A test that failed says itself why there is nothing.
  if (totals.all.succeeded_count == 0 && !result.run_info().has_failure()) {
    // A test of activities alone has no RPCs to measure.
    findings.Add(totals.rpcs.empty() ? Finding::WARN : Finding::INVALID,
                 "nothing_measured",
                 "no RPC succeeded after the warm-up, so there is nothing to "
                 "report; look at the failures, or shorten the warm-up");
  }
  const bool samples_wanted = result.traffic_config().sample_memory_bytes() > 0;
  if (totals.all.dropped_sample_count > 0 && samples_wanted) {
    findings.Add(
        Finding::NOTE, "samples_dropped",
        absl::StrCat("samples of ", totals.all.dropped_sample_count,
                     " RPCs were not kept; those that were are a random "
                     "choice. Counts and percentiles cover every RPC. To keep "
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
