// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/findings/findings.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "distbench/base/human_units.h"
#include "distbench/base/plugins.h"
#include "distbench/base/saturating_add.h"
#include "distbench/report/findings/judge_parts.h"
#include "distbench/report/measurements/run_outcome.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/parts/finding_rule.h"
#include "distbench/results/rpc_totals.h"
#include "distbench/results/run_failure.h"

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

// The part of an RPC's calls that the warm-up should leave, unless what it
// leaves is enough by itself.
constexpr double kLeastMeasured = 0.1;
constexpr int64_t kEnoughMeasured = 1000;
constexpr int64_t kLongMeasuredNs = 2 * kSecondNs;

// Codes of findings on brief measurements.
constexpr absl::string_view kBriefPairs = "brief_pairs";
constexpr absl::string_view kWideIntervals = "wide_intervals";

void JudgeWarmup(const std::string& name, const results::RpcCounts& counts,
                 FindingList& findings) {
  const int64_t measured = counts.succeeded_count + counts.failed_count;
  const double all =
      static_cast<double>(measured) + static_cast<double>(counts.warmup_count);
  const bool is_enough =
      measured >= kEnoughMeasured && counts.duration_ns() >= kLongMeasuredNs;
  if (is_enough || counts.warmup_count == 0 ||
      static_cast<double>(measured) >= kLeastMeasured * all) {
    return;
  }
  findings.Add(
      Finding::WARN, "mostly_warmup",
      measured == 0
          ? absl::StrCat(name, ": all of its ", counts.warmup_count,
                         " RPCs were warm-up, so nothing of it was measured")
          : absl::StrCat(
                name, ": only ", measured, " RPCs were measured, within ",
                base::HumanDuration(static_cast<double>(counts.duration_ns())),
                "; the other ", counts.warmup_count,
                " were warm-up. Such a remainder says little about "
                "rates and latencies"),
      "Lengthen the test, or shorten its warm-up (warmup, warmup_iterations).");
}

// Of what was due, as objectives have them; or of what was sent, if more of
// that failed, as of an RPC that handlers send, too. Those that were never sent
// are the finding unsent_load.
void JudgeFailures(const std::string& name, const results::RpcTotals& rpc,
                   const TestTotals& totals, FindingList& findings) {
  stats::Outcomes outcomes = ResponseTimeOf(totals, name);
  int64_t unsent = totals.load(name).unsent_count();
  if (const stats::Outcomes sent = ServiceTimeOf(rpc);
      sent.failed_count > outcomes.failed_count) {
    outcomes = sent;
    unsent = 0;
  }
  const int64_t failed = static_cast<int64_t>(outcomes.failed_count);
  if (failed <= unsent) return;
  findings.Add(
      SeverityOfFailures(outcomes.failed_share()), "failed_rpcs",
      absl::StrCat(name, ": ", failed, " of ", outcomes.count(), " RPCs (",
                   base::HumanPercent(outcomes.failed_share()), ") failed",
                   unsent == 0 ? ""
                               : absl::StrCat(", ", unsent,
                                              " of them because they were "
                                              "never sent"),
                   "; they rank above all latencies"),
      "Look at the causes of the failures, which the report lists. For expired "
      "deadlines, lower the load or allow more time; for broken connections, "
      "look at the server's host.");
}

}  // namespace

std::string Intervals(int64_t interval_ns) {
  if (interval_ns == kSecondNs) return "seconds";
  return absl::StrCat("intervals of ",
                      static_cast<double>(interval_ns) / kSecondNs, " s");
}

namespace {

// No RPC succeeded after the warm-up.
void JudgeNothing(const TestTotals& totals, FindingList& findings) {
  if (totals.rpcs.empty()) {
    findings.Add(Finding::WARN, "nothing_measured",
                 "the test has no RPCs, so no latency was measured",
                 "Nothing, if you measure activities. Otherwise add an RPC and "
                 "an action that sends it.");
    return;
  }
  const results::RpcCounts& all = totals.all;
  int64_t unsent = 0;
  for (const auto& [name, load] : totals.offered) {
    base::SaturatingAddTo(unsent, load.unsent_count());
  }
  findings.Add(
      Finding::INVALID, "nothing_measured",
      absl::StrCat(
          "no RPC succeeded after the warm-up, so there is nothing to report: ",
          all.failed_count, " failed, ",
          unsent > 0 ? absl::StrCat(unsent, " were never sent, ") : "", "and ",
          all.warmup_count, " were warm-up"),
      all.failed_count > 0
          ? "Look at the causes of the failures, which the report lists."
      : all.warmup_count > 0
          ? "Lengthen the test, or shorten its warm-up (warmup, "
            "warmup_iterations)."
          : "Look at which actions send RPCs, and at what they wait for.");
}

// Findings on the outcome of the RPCs, and on their samples.
void JudgeOutcome(const JudgedRun& run, FindingList& findings) {
  const TestTotals& totals = run.totals;
  for (const auto& [name, rpc] : totals.rpcs) {
    JudgeFailures(name, rpc, totals, findings);
  }
  if (totals.all.succeeded_count > 0) {
    for (const auto& [name, rpc] : totals.rpcs) {
      JudgeWarmup(name, rpc.counts, findings);
    }
  } else if (!results::FailureOf(run.result)) {
    // A failed test already explains why there is nothing.
    JudgeNothing(totals, findings);
  }
  const bool samples_wanted =
      run.result.traffic_config().sample_memory_bytes() > 0;
  if (totals.all.dropped_sample_count > 0 && samples_wanted) {
    findings.Add(
        Finding::NOTE, "samples_dropped",
        absl::StrCat("samples of ", totals.all.dropped_sample_count,
                     " RPCs were not kept; the kept ones were chosen at "
                     "random. Counts and percentiles cover every RPC"),
        "Nothing, if you do not need single RPCs. Otherwise raise "
        "sample_memory_bytes or max_rpc_samples.");
  }
}

// Findings on instances whose processes were lost.
void JudgeLosses(const JudgedRun& run, FindingList& findings) {
  const TestResult& result = run.result;
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
    findings.Add(
        Finding::WARN, "measurements_lost", absl::StrCat(name, ": ", left),
        "Find out why the process ended: the report names its signal or status "
        "where it lists the instances that stopped early, and the kernel log "
        "shows whether memory ran out. Then repeat the run.");
  }
}

// Findings on measurements that recording_memory_bytes was too small for.
void JudgeRecording(const JudgedRun& run, FindingList& findings) {
  const TestTotals& totals = run.totals;
  if (totals.brief_pair_count > 0) {
    findings.Add(
        Finding::NOTE, kBriefPairs,
        absl::StrCat("for ", totals.brief_pair_count, " of ", totals.pair_count,
                     " combinations of client, server and RPC, only counts, "
                     "means and extremes were kept, not percentiles; the "
                     "overall percentiles of an RPC are complete"),
        "Nothing, if you do not need percentiles of single pairs. Otherwise "
        "raise recording_memory_bytes.");
  }
  int64_t widest_ns = 0;
  for (const auto& [name, log] : run.result.service_logs().instance_logs()) {
    for (const auto& [rpc_index, series] : log.rpc_time_series()) {
      widest_ns = std::max(widest_ns, series.interval_ns());
    }
    for (const auto& [activity, activity_log] : log.activity_logs()) {
      widest_ns = std::max(widest_ns, activity_log.series().interval_ns());
    }
  }
  if (widest_ns > kSecondNs) {
    findings.Add(Finding::NOTE, kWideIntervals,
                 absl::StrCat("series over time have ", Intervals(widest_ns),
                              ", not of 1 s"),
                 "Nothing, if you do not need single seconds. Otherwise raise "
                 "recording_memory_bytes.");
  }
}

// Findings on work besides RPCs.
void JudgeActivities(const JudgedRun& run, FindingList& findings) {
  for (const auto& [name, totals] : AddUpActivities(run.result)) {
    const int64_t failed = totals.metric("failed_operations");
    if (failed == 0) continue;
    findings.Add(
        Finding::WARN, "failed_operations",
        absl::StrCat(name, ": ", failed, " operations failed, in ",
                     totals.metric("iteration_count"),
                     " iterations: the system refused memory, processes, or "
                     "reads and writes. The activity did less work than it "
                     "was to do"),
        "Lower what the activity demands, or raise the limit that it met: "
        "memory, processes, or the space and permissions of a disk.");
  }
}

// A part of Judge(), with the codes of all that it finds.
struct OwnRule {
  void (*judge)(const JudgedRun& run, FindingList& findings);
  std::vector<absl::string_view> codes;

  // Simulated hosts do what they are told, and their clocks are right.
  bool is_of_real_hosts = false;
};

// In the order of the findings.
const std::vector<OwnRule>& OwnRules() {
  static const auto& rules = *new std::vector<OwnRule>{
      {JudgeLoad, {"unsent_load", "held_back"}},
      {JudgeLateness, {"late_sends"}},
      {JudgeArrivals, {"arrivals"}, true},
      {JudgeComposedArrivals, {"arrivals"}, true},
      {JudgeStalls, {"stalls"}},
      {JudgeMetastable, {"metastable"}},
      {JudgeSteadiness, {"not_steady"}},
      {JudgeOutcome,
       {"failed_rpcs", "mostly_warmup", "nothing_measured", "samples_dropped"}},
      {JudgeLosses, {"measurements_lost"}},
      {JudgeRecording, {kBriefPairs, kWideIntervals}},
      {JudgeTimeParts,
       {"time_parts_missing", "time_parts_contradict", "time_parts_of_policy"}},
      {JudgeWireTimes,
       {"wire_stamps_missing", "wire_clock_set", "wire_stamps_shared",
        "beyond_the_wire"},
       true},
      {JudgeActivities, {"failed_operations"}},
      {JudgeHosts,
       {"retransmits", "throttled", "cpu_saturated", "waited_for_cpu",
        "other_load", "stolen", "brief_host", "congestion_control_differs"},
       true},
      {JudgeRequirements, {"requirement_not_met"}, true},
      {JudgeBindings, {"binding_not_held"}, true},
      {JudgeNetworkSettings, {"network_settings_differ"}, true},
      {JudgeFaults, {"planned_faults"}},
      {JudgeClocks, {"clock_error"}, true}};
  return rules;
}

bool IsJudged(const Finding& finding) {
  const auto has_code = [&](const auto& rule) {
    return absl::c_linear_search(rule.codes, finding.code());
  };
  return absl::c_any_of(OwnRules(), has_code) ||
         absl::c_any_of(
             base::Plugins<FindingRule>::All(),
             [&](const auto& rule) { return has_code(*rule.second); });
}

}  // namespace

std::vector<Finding> Judge(const TestResult& result) {
  const TestTotals totals = AddUp(result);
  const bool is_simulated = IsSimulated(result);
  FindingList findings;
  for (const OwnRule& rule : OwnRules()) {
    if (rule.is_of_real_hosts && is_simulated) continue;
    rule.judge({result, totals}, findings);
  }
  for (const auto& [name, rule] : base::Plugins<FindingRule>::All()) {
    rule->judge(result, findings);
  }
  return findings.Take();
}

void JudgeAgain(TestResult& result) {
  auto& findings = *result.mutable_run_info()->mutable_findings();
  findings.erase(std::remove_if(findings.begin(), findings.end(), IsJudged),
                 findings.end());
  for (Finding& finding : Judge(result)) findings.Add(std::move(finding));
}

bool IsOnBrevity(const Finding& finding) {
  return finding.code() == kBriefPairs || finding.code() == kWideIntervals;
}

int ExitCodeFor(const TestSequenceResults& results, bool allow_invalid) {
  const auto& tests = results.test_results();
  const bool ok = std::all_of(
      tests.begin(), tests.end(), [allow_invalid](const TestResult& test) {
        const RunOutcome outcome = OutcomeOf(test);
        return outcome == RunOutcome::kMeasured ||
               (outcome == RunOutcome::kInvalid && allow_invalid);
      });
  return ok ? kExitOk : kExitRunFailed;
}

}  // namespace distbench::report
