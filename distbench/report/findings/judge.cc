#include "distbench/report/findings/judge.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "distbench/base/plugins.h"
#include "distbench/report/findings/judge_parts.h"
#include "distbench/report/measurements/origin.h"

namespace distbench::report {
namespace {

// Shares of failed RPCs: above the first, failures deserve more than a note;
// above the second, the remaining RPCs say nothing about the system.
constexpr double kManyFailures = 0.01;
constexpr double kMostFailures = 0.5;

Finding::Severity SeverityOfFailures(double share) {
  if (share > kMostFailures) return Finding::INVALID;
  return share > kManyFailures ? Finding::WARN : Finding::NOTE;
}

constexpr int64_t kSecondNs = 1'000'000'000;

}  // namespace

std::string Percent(double share) {
  const int digits = share < 0.001 ? 3 : 1;
  return absl::StrFormat("%.*f %%", digits, 100 * share);
}

std::string Duration(double ns) {
  if (ns < 1e6) return absl::StrFormat("%.1f us", ns / 1e3);
  if (ns < 1e9) return absl::StrFormat("%.2f ms", ns / 1e6);
  return absl::StrFormat("%.2f s", ns / 1e9);
}

std::string Intervals(int64_t interval_ns) {
  if (interval_ns == kSecondNs) return "seconds";
  return absl::StrCat("intervals of ",
                      static_cast<double>(interval_ns) / kSecondNs, " s");
}

// Findings on the outcome of the RPCs, and on their samples.
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
  // A failed test already explains why there is nothing.
  if (totals.all.succeeded_count == 0 && !result.run_info().has_failure()) {
    const bool has_rpcs = !totals.rpcs.empty();
    findings.Add(
        has_rpcs ? Finding::INVALID : Finding::WARN, "nothing_measured",
        has_rpcs ? "no RPC succeeded after the warm-up, so there is nothing to "
                   "report; look at the failures, or shorten the warm-up"
                 : "the test has no RPCs, so no latency was measured");
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

// Findings on instances whose processes were lost.
void JudgeLosses(const TestResult& result, FindingList& findings) {
  std::map<std::string, int64_t> ends;
  for (const auto& [name, log] : result.service_logs().instance_logs()) {
    if (!log.has_measurements_end_timestamp_ns()) continue;
    ends[name] = log.measurements_end_timestamp_ns();
  }
  for (const auto& [name, end_ns] : ends) {
    const std::string left =
        end_ns == 0
            ? "none of its measurements are left"
            : absl::StrFormat(
                  "its measurements end %.0f s after the start, at %s; the "
                  "rest is lost, and so is which server answered which RPC and "
                  "why RPCs failed",
                  static_cast<double>(end_ns -
                                      result.run_info().start_timestamp_ns()) /
                      kSecondNs,
                  absl::FormatTime("%Y-%m-%d %H:%M:%S UTC",
                                   absl::FromUnixNanos(end_ns),
                                   absl::UTCTimeZone()));
    findings.Add(Finding::WARN, "measurements_lost",
                 absl::StrCat(name, ": ", left,
                              ". The summary gives the reason where it lists "
                              "the instances that stopped early"));
  }
}

// Findings on measurements that recording_memory_bytes was too small for.
void JudgeRecording(const TestResult& result, const TestTotals& totals,
                    FindingList& findings) {
  if (totals.brief_pair_count > 0) {
    findings.Add(
        Finding::NOTE, "brief_pairs",
        absl::StrCat("for ", totals.brief_pair_count, " of ", totals.pair_count,
                     " combinations of client, server and RPC, only counts, "
                     "means and extremes were kept, not percentiles; the "
                     "overall percentiles of an RPC are complete. To keep "
                     "more, raise recording_memory_bytes"));
  }
  int64_t widest_ns = 0;
  for (const auto& [name, log] : result.service_logs().instance_logs()) {
    for (const auto& [rpc_index, series] : log.rpc_time_series()) {
      widest_ns = std::max(widest_ns, series.interval_ns());
    }
    for (const auto& [activity, activity_log] : log.activity_logs()) {
      widest_ns = std::max(widest_ns, activity_log.series().interval_ns());
    }
  }
  if (widest_ns > kSecondNs) {
    findings.Add(Finding::NOTE, "wide_intervals",
                 absl::StrCat("series over time have ", Intervals(widest_ns),
                              ", not of 1 s. To keep shorter ones, raise "
                              "recording_memory_bytes"));
  }
}

namespace {

// Findings on what only real hosts have.
void JudgeRealHosts(const TestResult& result, FindingList& findings) {
  JudgeHosts(result, findings);
  JudgeRequirements(result, findings);
  JudgeBindings(result, findings);
  JudgeNetworkSettings(result, findings);
}

}  // namespace

std::vector<Finding> Judge(const TestResult& result) {
  const TestTotals totals = AddUp(result);
  // Simulated hosts do what they are told, and their clocks are right.
  const bool is_simulated = IsSimulated(result);
  FindingList findings;
  JudgeLoad(result, findings);
  JudgeLateness(result, totals, findings);
  if (!is_simulated) {
    JudgeArrivals(result, findings);
    JudgeComposedArrivals(result, findings);
  }
  JudgeStalls(result, totals, findings);
  JudgeMetastable(result, findings);
  JudgeSteadiness(result, findings);
  JudgeOutcome(result, totals, findings);
  JudgeLosses(result, findings);
  JudgeRecording(result, totals, findings);
  JudgeTimeParts(result, totals, findings);
  JudgeActivities(result, findings);
  if (!is_simulated) JudgeRealHosts(result, findings);
  JudgeFaults(result, findings);
  if (!is_simulated) JudgeClocks(result, findings);
  for (const auto& [name, rule] : base::Plugins<FindingRule>::All()) {
    rule->judge(result, findings);
  }
  return findings.Take();
}

}  // namespace distbench::report
