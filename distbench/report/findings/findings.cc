#include "distbench/report/findings/findings.h"

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
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/parts/finding_rule.h"
#include "distbench/results/rpc_totals.h"

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
  if (measured == 0) {
    findings.Add(Finding::WARN, "mostly_warmup",
                 absl::StrCat(name, ": all of its ", counts.warmup_count,
                              " RPCs were warm-up, so nothing of it was "
                              "measured: lengthen the test, or shorten its "
                              "warm-up"));
    return;
  }
  findings.Add(
      Finding::WARN, "mostly_warmup",
      absl::StrCat(
          name, ": only ", measured, " RPCs were measured, within ",
          Duration(static_cast<double>(counts.duration_ns())), "; the other ",
          counts.warmup_count,
          " were warm-up. Such a remainder says little about rates and "
          "latencies: lengthen the test, or shorten its warm-up"));
}

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
    JudgeWarmup(name, rpc.counts, findings);
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
void JudgeRealHosts(const TestResult& result, const TestTotals& totals,
                    FindingList& findings) {
  JudgeHosts(result, totals, findings);
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
  if (!is_simulated) JudgeRealHosts(result, totals, findings);
  JudgeFaults(result, findings);
  if (!is_simulated) JudgeClocks(result, findings);
  for (const auto& [name, rule] : base::Plugins<FindingRule>::All()) {
    rule->judge(result, findings);
  }
  return findings.Take();
}

namespace {

struct Advice {
  absl::string_view code;
  absl::string_view text;
};

constexpr Advice kAdvice[] = {
    {"arrivals",
     "Stop other programs on the client's host, give the client CPUs of its "
     "own, or let it spin (delay_actions_by_spinning)."},
    {"binding_not_held",
     "Check that the node manager may use these CPUs and this memory (taskset "
     "-p, and the cpuset of its control group). If the test does not depend on "
     "the binding, set strict: false."},
    {"brief_pairs",
     "Nothing, if you do not need percentiles of single pairs. Otherwise raise "
     "recording_memory_bytes."},
    {"clock_error",
     "Nothing, if you do not compare timestamps of different hosts. Otherwise "
     "synchronise their clocks by PTP, or measure on a quieter network."},
    {"clock_offset",
     "Synchronise the clocks of the hosts by NTP or PTP. This run was "
     "corrected, and latencies do not depend on it."},
    {"congestion_control_differs",
     "Set net.ipv4.tcp_congestion_control to the same value on all hosts, and "
     "repeat the run."},
    {"cpu_saturated",
     "In an open loop, lower the load or use more hosts. In a closed loop, "
     "compare rates instead of latencies."},
    {"damaged_logs",
     "Do not use this result. Fetch it again from the sequencer, or repeat the "
     "run."},
    {"failed_operations",
     "Lower what the activity demands, or raise the limit that it met: memory, "
     "processes, or the space and permissions of a disk."},
    {"failed_rpcs",
     "Look at the causes of the failures. For expired deadlines, lower the "
     "load or allow more time; for broken connections, look at the server's "
     "host."},
    {"held_back",
     "Raise max_parallel_iterations or leave it out, so that requests are sent "
     "when they are due; or lower the rate."},
    {"late_sends",
     "If that does not help, use more clients. Until sends are in time, look "
     "at "
     "service times."},
    {"late_start",
     "Repeat the run. If it happens again, look for load on that host, and for "
     "delays between it and the sequencer."},
    {"measurements_lost",
     "Find out why the process ended: the instance's message names its signal "
     "or status, and the kernel log shows whether memory ran out. Then repeat "
     "the run."},
    {"metastable",
     "Compare the attempts per second with the goodput over time. Then try one "
     "change at a time: a retry budget or a circuit breaker for callers, "
     "deadlines that end work nobody waits for, short queues that refuse early "
     "(admission), or less load (docs/measuring.md, \"Metastable failures\")."},
    {"mostly_warmup",
     "Lengthen the test, or shorten the warm-up (warmup, warmup_iterations), "
     "so "
     "that most RPCs are measured."},
    {"network_settings_differ",
     "For MPTCP, set mptcp on both sides and net.mptcp.enabled on all hosts. "
     "Otherwise look for what changes sockets, such as programs of eBPF."},
    {"node_lost",
     "Look at the node manager's log and its host for why it left. Then repeat "
     "the run."},
    {"not_steady",
     "Lengthen the warm-up (warmup) until the finding disappears. If it does "
     "not, the system changes while it runs: look at the charts over time."},
    {"nothing_measured",
     "Look at the causes of the failures, shorten the warm-up or lengthen the "
     "traffic. A test without RPCs measures no latency."},
    {"one_process",
     "Run the test on a cluster (distbench run_tests) to measure latencies."},
    {"other_load",
     "Stop the other programs on this host, or use another host, and repeat "
     "the run."},
    {"planned_faults",
     "Nothing, if the faults are what you want to measure. Otherwise remove "
     "server_faults from the test, and repeat the run."},
    {"requirement_not_met",
     "Change the host as the message says, or use another host. Do not compare "
     "this run with runs that meet the requirements."},
    {"resources_dropped",
     "Nothing, if you do not need them. Otherwise run shorter tests, or on "
     "fewer nodes."},
    {"retransmits",
     "Look for a link, a switch or a queue that loses packets, or lower the "
     "load. The table of data connections shows which ones are affected."},
    {"samples_dropped",
     "Nothing, if you do not need single RPCs. Otherwise raise "
     "sample_memory_bytes or max_rpc_samples."},
    {"stalls",
     "Send at a rate (rate or open_loop_interval_ns) to measure the latency "
     "that users see who do not wait for each other."},
    {"stolen",
     "Use a host or a virtual machine with dedicated CPUs, and repeat the "
     "run."},
    {"throttled",
     "Raise the CPU limit (cpu.max) of the node manager's control group or "
     "container, or lower the load."},
    {"time_parts_contradict",
     "Check the time synchronisation of the hosts: their clocks run at "
     "different speeds."},
    {"time_parts_missing",
     "Run the same version of distbench on all hosts, and look at which "
     "instances were lost."},
    {"unsent_load",
     "Lower the load to what was sent. Where max_parallel_iterations limits "
     "it, raise that, or use more clients."},
    {"waited_for_cpu",
     "Stop the other programs on this host, or bind the nodes to CPUs of their "
     "own."},
    {"wide_intervals",
     "Nothing, if you do not need single seconds. Otherwise raise "
     "recording_memory_bytes."},
};

}  // namespace

absl::string_view AdviceFor(absl::string_view code) {
  for (const Advice& advice : kAdvice) {
    if (advice.code == code) return advice.text;
  }
  for (const auto& [name, rule] : base::Plugins<FindingRule>::All()) {
    const absl::string_view text = rule->advice_for(code);
    if (!text.empty()) return text;
  }
  return "";
}

bool IsInvalid(const TestResult& result) {
  const auto& findings = result.run_info().findings();
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) {
                       return finding.severity() == Finding::INVALID;
                     });
}

int ExitCodeFor(const TestSequenceResults& results, bool allow_invalid) {
  const auto& tests = results.test_results();
  const bool ok = std::none_of(tests.begin(), tests.end(),
                               [allow_invalid](const TestResult& test) {
                                 return test.run_info().has_failure() ||
                                        (IsInvalid(test) && !allow_invalid);
                               });
  return ok ? kExitOk : kExitRunFailed;
}

// Findings on work besides RPCs.

void JudgeActivities(const TestResult& result, FindingList& findings) {
  for (const auto& [name, totals] : AddUpActivities(result)) {
    const int64_t failed = totals.metric("failed_operations");
    if (failed == 0) continue;
    findings.Add(
        Finding::WARN, "failed_operations",
        absl::StrCat(name, ": ", failed, " operations failed, in ",
                     totals.metric("iteration_count"),
                     " iterations: the system refused memory, processes, or "
                     "reads and writes. The activity did less work than it "
                     "was to do; lower its demand, or raise the limit of what "
                     "it needs"));
  }
}

}  // namespace distbench::report
