// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The findings on planned faults, and on failures that outlive them.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "distbench/base/human_units.h"
#include "distbench/base/time_units.h"
#include "distbench/report/findings/judge_parts.h"
#include "distbench/report/measurements/faults.h"
#include "distbench/report/measurements/rpc_series.h"
#include "distbench/results/walk.h"
#include "distbench/stats/median.h"
#include "distbench/stats/outcomes.h"

namespace distbench::report {
namespace {

// ---- Planned faults: no problem of the run, but a reason not to take its
// numbers for those of a healthy system.

// The summary lists the others.
constexpr size_t kFaultsNamed = 3;

// Names those that were in effect, or those that were not. Empty if there are
// none.
std::string NamesOf(const std::vector<PlannedFault>& faults, bool missed) {
  std::vector<std::string> names;
  for (const PlannedFault& fault : faults) {
    if (fault.was_missed != missed) continue;
    if (names.size() == kFaultsNamed) {
      return absl::StrCat(absl::StrJoin(names, ", "), " and others");
    }
    names.push_back(absl::StrCat(fault.name, " (", fault.description, ")"));
  }
  return absl::StrJoin(names, ", ");
}

}  // namespace

void JudgeFaults(const JudgedRun& run, FindingList& findings) {
  const std::vector<PlannedFault> faults = PlannedFaultsOf(run.result);
  if (AnyHappened(faults)) {
    findings.Add(
        Finding::WARN, "planned_faults",
        absl::StrCat(
            "servers failed on purpose: ", NamesOf(faults, /*missed=*/false),
            ". These are not the numbers of a healthy system"),
        "Nothing, if the faults are what you want to measure. Otherwise remove "
        "server_faults from the test, and repeat the run.");
  }
  if (const std::string missed = NamesOf(faults, /*missed=*/true);
      !missed.empty()) {
    findings.Add(Finding::WARN, "planned_faults",
                 absl::StrCat("planned but never in effect: ", missed,
                              "; the traffic ended before, or servers stood "
                              "still meanwhile"),
                 "Lengthen the traffic, or let the faults begin earlier "
                 "(server_faults).");
  }
}

// ---- Metastable failures ----------------------------------------------------
//
// An overload that stays after its trigger has
// gone, because what it caused, such as retries, sustains it (N. Bronson et
// al., Metastable Failures in Distributed Systems, HotOS 2021).
//
//   faults of servers, peaks of the offered load ──FindTrigger──▶ when it ended
//     + intervals before and after it ──Judge──▶ whether the load is back and
//       the goodput is not

namespace {

using LoadIntervals = absl::Span<const LoadInterval>;

// Intervals that must precede the trigger, and follow it. Those that follow
// must also last as long as the trigger: a queue that it filled takes time to
// drain.
constexpr size_t kFewestBeforeTrigger = 5;
constexpr size_t kFewestAfterTrigger = 10;

// The offered load, in comparison with that before: above the first, and so
// many standard deviations of a Poisson process beyond it, it is a peak; up to
// the third, and so many standard errors beyond it, it is back.
constexpr double kPeakOfLoad = 1.3;
constexpr double kPeakDeviations = 3;
constexpr double kLoadIsBack = 1.1;
constexpr double kBackDeviations = 2;

// So many intervals tell what was offered before a peak.
constexpr size_t kMostBeforePeak = 60;

// Goodput as a share of the offered load, above which a system was healthy
// before; and as a share of what it was, or of what is offered if that is less,
// below which it is low.
constexpr double kHealthyGoodput = 0.9;
constexpr double kLowGoodput = 0.8;

// Goodput that rises by more than this share of what it was, from the first to
// the last third after the trigger, is on its way back.
constexpr double kRisingGoodput = 0.1;

// How many times as many attempts per request, or how many times the median
// latency, show that the system works on something else than new requests.
constexpr double kManyAttempts = 1.2;
constexpr double kMuchSlower = 2;

struct Trigger {
  std::string text;
  int64_t begin_ns = std::numeric_limits<int64_t>::max();
  int64_t end_ns = std::numeric_limits<int64_t>::min();

  // Of the last fault or peak in it.
  int64_t duration_ns = 0;

  bool is_found() const { return end_ns >= begin_ns; }

  void Add(const std::string& what, int64_t from_ns, int64_t until_ns) {
    begin_ns = std::min(begin_ns, from_ns);
    if (until_ns < end_ns) return;
    text = what;
    end_ns = until_ns;
    duration_ns = until_ns - from_ns;
  }
};

template <typename ValueOf>
double MedianOfLoads(LoadIntervals intervals, const ValueOf& value_of) {
  std::vector<double> values;
  for (const LoadInterval& interval : intervals) {
    values.push_back(static_cast<double>(value_of(interval)));
  }
  if (values.empty()) return 0;
  // Not a mean: of a failed request and another there is none.
  return stats::LowMedian(std::move(values));
}

double OfferedIn(LoadIntervals intervals) {
  return MedianOfLoads(intervals, [](const auto& i) { return i.offered; });
}

double GoodputIn(LoadIntervals intervals) {
  return MedianOfLoads(intervals, [](const auto& i) { return i.goodput; });
}

// Failed requests are slower than all others.
double LatencyIn(LoadIntervals intervals) {
  return MedianOfLoads(intervals, [](const auto& i) { return i.median_ns; });
}

// Attempts per request; 0 if the RPC has no policy.
double AttemptsIn(LoadIntervals intervals) {
  double attempts = 0;
  double sent = 0;
  for (const LoadInterval& interval : intervals) {
    attempts += static_cast<double>(interval.attempts);
    sent += static_cast<double>(interval.sent);
  }
  return sent > 0 ? attempts / sent : 0;
}

LoadIntervals MeasuredPart(const LoadCurve& curve) {
  LoadIntervals measured = curve.intervals;
  while (!measured.empty() && measured.front().is_warmup) {
    measured.remove_prefix(1);
  }
  return measured;
}

// Adds the time from the first to the last interval in which far more was
// offered than in those before the first.
void AddPeaks(LoadIntervals measured, int64_t interval_ns, Trigger& trigger) {
  std::optional<double> usual;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  double highest = 0;
  for (size_t i = kFewestBeforeTrigger; i < measured.size(); ++i) {
    const size_t first = i - std::min(i, kMostBeforePeak);
    const double before =
        usual ? *usual : OfferedIn(measured.subspan(first, i - first));
    const auto offered = static_cast<double>(measured[i].offered);
    const double least =
        kPeakOfLoad * before + kPeakDeviations * std::sqrt(before);
    if (before <= 0 || offered <= least) continue;
    if (!usual) begin_ns = measured[i].begin_ns;
    usual = before;
    end_ns = measured[i].begin_ns + interval_ns;
    highest = std::max(highest, offered / before);
  }
  if (!usual) return;
  trigger.Add(absl::StrFormat("a peak of %.1f times the offered load", highest),
              begin_ns, end_ns);
}

// Adds the faults that began when enough intervals had shown the system
// without them.
void AddFaults(LoadIntervals measured, int64_t interval_ns,
               absl::Span<const FaultWindow> windows, Trigger& trigger) {
  const int64_t known_ns =
      measured[kFewestBeforeTrigger - 1].begin_ns + interval_ns;
  const int64_t last_ns = measured.back().begin_ns + interval_ns;
  for (const FaultWindow& window : windows) {
    if (window.begin_ns < known_ns || window.begin_ns > last_ns) continue;
    trigger.Add(absl::StrCat("the fault \"", window.fault, "\""),
                window.begin_ns, window.end_ns);
  }
}

// What the system did before the trigger, or after it.
struct LoadState {
  explicit LoadState(LoadIntervals intervals)
      : offered(OfferedIn(intervals)),
        goodput(GoodputIn(intervals)),
        latency_ns(LatencyIn(intervals)),
        attempts(AttemptsIn(intervals)) {}

  double offered;
  double goodput;
  double latency_ns;
  double attempts;
};

// Whether goodput was ever back for long, or is about to be.
bool IsRecovering(const LoadCurve& curve, const Trigger& trigger,
                  LoadIntervals after, double possible) {
  const std::vector<FaultWindow> window = {
      {"", trigger.begin_ns, trigger.end_ns}};
  const RecoveryOutcome outcome = RecoveriesOf(curve, window)[0].outcome;
  if (outcome != RecoveryOutcome::kNever) return true;
  const size_t third = after.size() / 3;
  const double last = GoodputIn(after.last(third));
  return last >= kLowGoodput * possible ||
         last - GoodputIn(after.first(third)) > kRisingGoodput * possible;
}

// A system that was healthy before had a median latency.
std::string DescribeLatencies(double before_ns, double after_ns) {
  return absl::StrCat(after_ns >= static_cast<double>(stats::Outcomes::kFailed)
                          ? "most requests failed"
                          : absl::StrCat("the median latency was ",
                                         base::HumanDuration(after_ns)),
                      ", where the median latency had been ",
                      base::HumanDuration(before_ns));
}

std::string DescribeStates(const LoadState& before, const LoadState& after,
                           double seconds_per_interval) {
  std::string text = absl::StrCat(
      "goodput stayed at ",
      base::HumanRate(after.goodput / seconds_per_interval), " instead of ",
      base::HumanRate(before.goodput / seconds_per_interval));
  if (after.attempts > 0) {
    absl::StrAppendFormat(&text,
                          ", with %.2f attempts per request instead of "
                          "%.2f",
                          after.attempts, before.attempts);
  }
  absl::StrAppend(&text, ", and ",
                  DescribeLatencies(before.latency_ns, after.latency_ns));
  return text;
}

// Splits what was measured at the trigger, and judges both parts.
void JudgeAfter(const std::string& name, const LoadCurve& curve,
                const Trigger& trigger, FindingList& findings) {
  const LoadIntervals measured = MeasuredPart(curve);
  const auto count_before = [&](int64_t time_ns) -> size_t {
    return std::partition_point(measured.begin(), measured.end(),
                                [&](const LoadInterval& interval) {
                                  return interval.begin_ns < time_ns;
                                }) -
           measured.begin();
  };
  const LoadIntervals whole_before =
      measured.first(count_before(trigger.begin_ns - curve.interval_ns + 1));
  const LoadIntervals after_it = measured.subspan(count_before(trigger.end_ns));
  const int64_t after_ns =
      static_cast<int64_t>(after_it.size()) * curve.interval_ns;
  if (whole_before.size() < kFewestBeforeTrigger ||
      after_it.size() < kFewestAfterTrigger || after_ns < trigger.duration_ns) {
    return;
  }
  const LoadState before(whole_before);
  const LoadState after(after_it);
  const double possible = std::min(before.goodput, after.offered);
  const bool was_healthy = before.goodput >= kHealthyGoodput * before.offered;
  // The standard error of the difference of two medians of Poisson counts is
  // sqrt(pi / 2) times that of their means.
  const double noise =
      std::sqrt(M_PI / 2 *
                (before.offered / static_cast<double>(whole_before.size()) +
                 after.offered / static_cast<double>(after_it.size())));
  const bool load_is_back =
      after.offered > 0 &&
      after.offered <= kLoadIsBack * before.offered + kBackDeviations * noise;
  const bool is_sustained =
      after.attempts >= kManyAttempts * std::max(1.0, before.attempts) ||
      after.latency_ns >= kMuchSlower * before.latency_ns;
  if (!was_healthy || !load_is_back || !is_sustained ||
      after.goodput >= kLowGoodput * possible ||
      IsRecovering(curve, trigger, after_it, possible)) {
    return;
  }
  const double seconds = base::ToSeconds(after_ns);
  findings.Add(
      Finding::WARN, "metastable",
      absl::StrCat(
          name, ": ", trigger.text,
          " was over, and no more was offered than "
          "before, but for the last ",
          seconds, " s, until the end of the run, ",
          DescribeStates(before, after, base::ToSeconds(curve.interval_ns)),
          ": the overload sustains itself for at least so long (metastable "
          "failure)"),
      "Compare the attempts per second with the goodput over time. Then try "
      "one change at a time: a retry budget or a circuit breaker for callers, "
      "deadlines that end work nobody waits for, short queues that refuse "
      "early (admission), or less load (docs/measuring.md, \"Metastable "
      "failures\").");
}

}  // namespace

void JudgeMetastable(const JudgedRun& run, FindingList& findings) {
  const std::vector<FaultWindow> windows = FaultWindowsOf(run.result);
  for (int i = 0; i < run.result.traffic_config().rpc_descriptions_size();
       ++i) {
    // Without an offered load, nothing tells whether it is back.
    if (run.LoadOf(i).offered_count() == 0) continue;
    const LoadCurve curve = LoadCurveOf(run.result, i);
    const LoadIntervals measured = MeasuredPart(curve);
    if (measured.size() < kFewestBeforeTrigger + kFewestAfterTrigger) continue;
    Trigger trigger;
    AddFaults(measured, curve.interval_ns, windows, trigger);
    AddPeaks(measured, curve.interval_ns, trigger);
    if (trigger.is_found()) {
      JudgeAfter(run.NameOf(i), curve, trigger, findings);
    }
  }
}

}  // namespace distbench::report
