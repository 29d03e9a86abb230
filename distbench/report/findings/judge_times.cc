// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The findings on what RPCs took: whether it had settled, whether stalls hide
// in it, whether its parts are known, and what of it was on the wire.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "distbench/base/human_units.h"
#include "distbench/base/saturating_add.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/report/findings/judge_parts.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/rpc_series.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/walk.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/quantile_interval.h"
#include "distbench/stats/residual_life.h"
#include "distbench/stats/run_interval.h"

namespace distbench::report {
namespace {

// ---- Steadiness: whether latencies had settled when the warm-up ended.

// Geweke's diagnostic (Evaluating the accuracy of sampling-based approaches to
// the calculation of posterior moments, 1992) compares the first part of a
// series with its last half. Here the series is that of the median service
// times of intervals, which are seconds except in long runs. The limits allow
// for intervals that are not independent.
constexpr double kFirstPart = 0.2;
constexpr double kLastPart = 0.5;
constexpr double kErrorsBeyondChance = 6;
constexpr double kMuchDifference = 0.2;
constexpr size_t kFewestJudgedIntervals = 10;
constexpr uint64_t kFewestPerJudgedInterval = 10;

// The medians of the complete intervals after the warm-up, in nanoseconds.
std::vector<double> Medians(
    const std::map<int64_t, IntervalTotals>& intervals) {
  std::vector<double> medians;
  if (intervals.size() < 3) return medians;
  const int64_t first = intervals.begin()->first;
  const int64_t last = intervals.rbegin()->first;
  for (const auto& [index, interval] : intervals) {
    const bool is_warmup = interval.warmup > 0;
    if (is_warmup) medians.clear();
    if (index == first || index == last || is_warmup) continue;
    if (interval.service_time_ns.count() < kFewestPerJudgedInterval) continue;
    medians.push_back(
        static_cast<double>(interval.service_time_ns.ValueAtQuantile(0.5)));
  }
  return medians;
}

void JudgeMedians(const std::string& name, absl::Span<const double> medians,
                  int64_t interval_ns, FindingList& findings) {
  const size_t count = medians.size();
  if (count < kFewestJudgedIntervals) return;
  const size_t first = static_cast<size_t>(kFirstPart * count);
  const size_t last = static_cast<size_t>(kLastPart * count);
  const absl::Span<const double> last_medians = medians.last(last);
  const double early = stats::Mean(medians.first(first));
  const double late = stats::Mean(last_medians);
  const double error =
      std::sqrt(stats::Variance(last_medians) * (1.0 / first + 1.0 / last));
  const double difference = std::abs(early - late);
  if (difference < kErrorsBeyondChance * error ||
      difference < kMuchDifference * late) {
    return;
  }
  const double seconds = static_cast<double>(interval_ns) / 1e9;
  findings.Add(
      Finding::WARN, "not_steady",
      absl::StrCat(
          name, ": in the first ", first * seconds,
          " s after the warm-up the median service time was ",
          base::HumanDuration(early), ", in the last ", last * seconds, " s ",
          base::HumanDuration(late), " (Geweke's diagnostic on the medians of ",
          Intervals(interval_ns), "): it had not settled when measuring began"),
      "Lengthen the warm-up (warmup) until the finding disappears. If it does "
      "not, the system changes while it runs: look at the charts over time.");
}

}  // namespace

void JudgeSteadiness(const JudgedRun& run, FindingList& findings) {
  // Latencies then change with it.
  const TestResult& result = run.result;
  if (config::HasVaryingRate(result.traffic_config())) return;
  for (int i = 0; i < result.traffic_config().rpc_descriptions_size(); ++i) {
    const RpcSeries series = CollectSeries(result, i);
    JudgeMedians(run.NameOf(i), Medians(series.intervals), series.interval_ns,
                 findings);
  }
}

// ---- Stalls: whether closed loops were slow for a time, in which they sent
// little, so that few of their RPCs show it.

namespace {

// How many times as long users would wait as RPCs take. It is 1 for exponential
// service times, and 3 for lognormal times with a sigma of 1.3.
constexpr double kMuchLonger = 5;
constexpr double kMuchLongerNs = 1e6;
constexpr uint64_t kFewest = 1000;

// Whether a service's main list repeats the RPC and waits for it each time.
bool IsSentInClosedLoop(const DistributedSystemDescription& test,
                        const std::string& rpc) {
  const auto is_closed = [&](const std::string& action_name) {
    return std::any_of(
        test.actions().begin(), test.actions().end(),
        [&](const Action& action) {
          return action.name() == action_name && action.rpc_name() == rpc &&
                 action.has_iterations() &&
                 action.iterations().open_loop_interval_ns() <= 0;
        });
  };
  const auto is_service = [&](const std::string& name) {
    return std::any_of(
        test.services().begin(), test.services().end(),
        [&](const ServiceSpec& service) { return service.name() == name; });
  };
  return std::any_of(test.action_lists().begin(), test.action_lists().end(),
                     [&](const ActionList& list) {
                       return is_service(list.name()) &&
                              std::any_of(list.action_names().begin(),
                                          list.action_names().end(), is_closed);
                     });
}

}  // namespace

void JudgeStalls(const JudgedRun& run, FindingList& findings) {
  for (const auto& [name, rpc] : run.totals.rpcs) {
    const stats::LogHistogram& service = rpc.service_time_ns;
    if (service.count() < kFewest ||
        !IsSentInClosedLoop(run.result.traffic_config(), name)) {
      continue;
    }
    const double p99 = static_cast<double>(service.ValueAtQuantile(0.99));
    const stats::ResidualLife wait = stats::ResidualAtQuantile(service, 0.99);
    if (wait.left < kMuchLonger * p99 || wait.left < kMuchLongerNs) continue;
    findings.Add(
        Finding::WARN, "stalls",
        absl::StrCat(
            name, ": RPCs of more than ", base::HumanDuration(wait.left),
            " are only ", base::HumanPercent(wait.count_share),
            " of all, but took ", base::HumanPercent(wait.time_share),
            " of the time, in which the closed loop sent little else. If the "
            "server stalled, requests that arrive independently of it would "
            "have a 99th percentile of about ",
            base::HumanDuration(wait.left), ", not of ",
            base::HumanDuration(p99),
            rpc.counts.failed_count == 0 ? ""
                                         : ", that of RPCs that succeeded"),
        "Send at a rate (rate or open_loop_interval_ns) to measure the latency "
        "that users see who do not wait for each other.");
  }
}

// ---- Time parts: whether servers reported them, and agree with their clients.

namespace {

// Share of RPCs above which contradictions are more than a note.
constexpr double kManyContradictions = 0.01;

void JudgeMissing(const std::string& name, int64_t succeeded, int64_t reported,
                  FindingList& findings) {
  if (reported >= succeeded) return;
  findings.Add(
      Finding::WARN, "time_parts_missing",
      absl::StrCat(name, ": for ", succeeded - reported, " of ", succeeded,
                   " RPCs, the server did not report its time parts; the "
                   "section \"Time parts\" leaves them out"),
      "Look at which instances were lost. If none was, run the same version of "
      "distbench on all hosts.");
}

// No network is so fast that nothing is left of the service time.
void JudgeContradictions(const std::string& name,
                         const stats::LogHistogram& network_ns,
                         FindingList& findings) {
  const uint64_t count = network_ns.CountAtMost(0);
  if (count == 0) return;
  const double share =
      static_cast<double>(count) / static_cast<double>(network_ns.count());
  findings.Add(
      share > kManyContradictions ? Finding::WARN : Finding::NOTE,
      "time_parts_contradict",
      absl::StrCat(name, ": for ", count, " RPCs (", base::HumanPercent(share),
                   "), the server reported at least as much time as passed at "
                   "the client; their network time counts as 0"),
      "Where client and server are on different hosts, check their time "
      "synchronisation: their clocks run at different speeds. On one host, the "
      "network is as fast as the clock is fine.");
}

// A hedge's delay looks like a slow network.
void JudgePolicyParts(const std::string& name, const PolicyStatistics& attempts,
                      FindingList& findings) {
  if (attempts.retry_count() == 0 && attempts.hedge_count() == 0) return;
  findings.Add(
      Finding::NOTE, "time_parts_of_policy",
      absl::StrCat(
          name, ": for ", attempts.request_count(), " requests, ",
          attempts.retry_count(), " retries and ", attempts.hedge_count(),
          " hedges were sent. What passed before the attempt that won, such "
          "as a pause or the delay of a hedge, counts as network time"),
      "Compare the network time with that of a run without the policy, or look "
      "at the times of attempts.");
}

// The RPCs whose servers are not part of the test.
std::set<std::string> OutsideRpcs(const DistributedSystemDescription& test) {
  std::set<std::string> rpcs;
  for (const RpcSpec& rpc : test.rpc_descriptions()) {
    if (config::CallsOutside(rpc)) rpcs.insert(rpc.name());
  }
  return rpcs;
}

}  // namespace

void JudgeTimeParts(const JudgedRun& run, FindingList& findings) {
  const DistributedSystemDescription& test = run.result.traffic_config();
  if (!test.measure_time_parts()) return;
  // Their servers do not report any.
  const std::set<std::string> outside = OutsideRpcs(test);
  for (const auto& [name, rpc] : run.totals.rpcs) {
    if (outside.contains(name)) continue;
    const stats::LogHistogram& network_ns =
        TimesOf(rpc, results::TimePart::kNetwork);
    JudgeMissing(name, rpc.counts.succeeded_count,
                 static_cast<int64_t>(network_ns.count()), findings);
    JudgeContradictions(name, network_ns, findings);
    const auto attempts = run.totals.attempts.find(name);
    if (attempts != run.totals.attempts.end()) {
      JudgePolicyParts(name, attempts->second, findings);
    }
  }
}

// ---- Wire times: which RPCs have one, and what is beside it. ----------------

namespace {

// A share of missing stamps, and of shared ones, that is worth knowing.
constexpr double kManyMissing = 0.001;
constexpr double kManyShared = 0.01;

// What is beside the wire is worth knowing from this part of a service time,
// and from this time; and is most of the service time.
constexpr double kMuchBeside = 0.2;
constexpr double kMostBeside = 0.5;
constexpr int64_t kMuchBesideNs = 5'000;

void JudgeStamps(const TestResult& result, FindingList& findings) {
  const int64_t missing = DriverCounter(result, "wire_stamps_missing");
  const int64_t stamped = DriverCounter(result, "wire_stamps");
  const double share = static_cast<double>(missing) /
                       static_cast<double>(std::max<int64_t>(
                           1, base::SaturatingAdd(missing, stamped)));
  if (share > kManyMissing) {
    findings.Add(
        Finding::WARN, "wire_stamps_missing",
        absl::StrCat("For ", missing, " RPCs, ", base::HumanPercent(share),
                     " of those that were to be stamped (warm-up included), "
                     "the kernel gave no usable time stamps; wire times leave "
                     "them out"),
        "Look at \"Driver counters\". Stamps that come too late, because a "
        "queue holds up what is sent, are missing as well: limit what is in "
        "flight.");
  }
  if (DriverCounter(result, "wire_clock_steps") > 0) {
    findings.Add(Finding::WARN, "wire_clock_set",
                 "While RPCs were in flight, somebody set a client's clock, by "
                 "which the kernel stamps; wire times leave these RPCs out",
                 "Let the time service slew the clock during tests, not step "
                 "it.");
  }
}

void JudgeSharing(const std::string& name, const results::RpcTotals& rpc,
                  uint64_t stamped, FindingList& findings) {
  const double share = static_cast<double>(rpc.counts.wire_shared_count) /
                       static_cast<double>(stamped);
  if (share <= kManyShared) return;
  findings.Add(
      Finding::NOTE, "wire_stamps_shared",
      absl::StrCat(name, ": ", base::HumanPercent(share),
                   " of the stamped RPCs were written, or in flight, together "
                   "with others on their connection: their stamps are those of "
                   "the whole write, and of the last reply that was read with "
                   "theirs"),
      "For the wire time of single RPCs, send one at a time on a connection: "
      "more connections, or a lower rate.");
}

// Of a request that was sent several times, the service time contains all of
// that, and the wire time only the attempt that counts.
bool IsSentAgain(const PolicyStatistics* attempts) {
  return attempts != nullptr &&
         (attempts->retry_count() > 0 || attempts->hedge_count() > 0);
}

// What is beside the wire, and why.
std::string BesideText(const PolicyStatistics* attempts) {
  if (!IsSentAgain(attempts)) {
    return "passed before the last packet of the request had left the client's "
           "host, or after that of the reply had arrived there";
  }
  return absl::StrCat(
      "is beside that of the attempt that counts: ", attempts->retry_count(),
      " retries and ", attempts->hedge_count(),
      " hedges were sent, and service times contain all that passed since the "
      "first attempt");
}

constexpr char kClientAdvice[] =
    "Judge networks and servers by the wire time. Unless requests are large, "
    "or connections are made for them, the client's host takes the rest: its "
    "scheduler, its sockets and distbench. Give the client CPUs of its own, or "
    "let it poll (spin_us).";
constexpr char kPolicyAdvice[] =
    "The rest need not be the client's: look at the times of attempts, or "
    "measure wire times without the policy.";

// What of the service time is not on the wire: at the median, or if there is
// little, at the 99th percentile.
void JudgeBeside(const std::string& name, const results::RpcTotals& rpc,
                 const PolicyStatistics* attempts,
                 const stats::LogHistogram& wire_ns, FindingList& findings) {
  for (const double quantile : {0.5, 0.99}) {
    if (!stats::SupportsQuantile(wire_ns.count(), quantile)) break;
    const int64_t service = rpc.service_time_ns.ValueAtQuantile(quantile);
    const int64_t wire = wire_ns.ValueAtQuantile(quantile);
    if (service - wire < kMuchBesideNs) continue;
    const double share =
        static_cast<double>(service - wire) / static_cast<double>(service);
    if (share < kMuchBeside) continue;
    findings.Add(
        share > kMostBeside && !IsSentAgain(attempts) ? Finding::WARN
                                                      : Finding::NOTE,
        "beyond_the_wire",
        absl::StrCat(
            name, ": the ", quantile == 0.5 ? "median" : "99th percentile",
            " of the service time",
            OfThoseThatSucceeded(
                static_cast<uint64_t>(rpc.counts.failed_count)),
            " is ", base::HumanDuration(service), ", that of the wire time ",
            base::HumanDuration(wire), ": ",
            base::HumanDuration(service - wire), ", ",
            base::HumanPercent(share), " of it, ", BesideText(attempts)),
        IsSentAgain(attempts) ? kPolicyAdvice : kClientAdvice);
    return;
  }
}

}  // namespace

void JudgeWireTimes(const JudgedRun& run, FindingList& findings) {
  if (!run.result.traffic_config().has_measure_wire_time()) return;
  JudgeStamps(run.result, findings);
  for (const auto& [name, rpc] : run.totals.rpcs) {
    const stats::LogHistogram& wire_ns = TimesOf(rpc, results::TimePart::kWire);
    if (wire_ns.count() == 0) continue;
    JudgeSharing(name, rpc, wire_ns.count(), findings);
    const auto attempts = run.totals.attempts.find(name);
    JudgeBeside(
        name, rpc,
        attempts == run.totals.attempts.end() ? nullptr : &attempts->second,
        wire_ns, findings);
  }
}

}  // namespace distbench::report
