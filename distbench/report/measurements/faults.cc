// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/measurements/faults.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/saturating_add.h"
#include "distbench/base/time_units.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/merge.h"
#include "distbench/results/walk.h"
#include "distbench/stats/median.h"

namespace distbench::report {
namespace {

std::string EffectOf(const ServerFault& fault) {
  switch (fault.fault_case()) {
    case ServerFault::kErrorCode:
      return absl::StrCat("fails with ", fault.error_code());
    case ServerFault::kExtraLatency:
      return absl::StrCat("answers ", fault.extra_latency(), " later");
    case ServerFault::kExtraLatencyDistribution:
      return absl::StrCat("answers later, by \"",
                          fault.extra_latency_distribution(), "\"");
    case ServerFault::kFreeze:
      return "stands still";
    case ServerFault::kResetConnections:
      return "breaks its connections";
    case ServerFault::FAULT_NOT_SET:
      break;
  }
  return "fails";
}

std::string DescriptionOf(const ServerFault& fault) {
  std::string text = fault.service();
  if (!fault.instances().empty()) {
    absl::StrAppend(&text, " (instances ",
                    absl::StrJoin(fault.instances(), ", "), ")");
  }
  absl::StrAppend(&text, " ", EffectOf(fault));
  if (!fault.rpc_name().empty()) {
    absl::StrAppend(&text, ", in RPC ", fault.rpc_name());
  }
  if (fault.probability() < 1) {
    absl::StrAppend(&text, ", with probability ", fault.probability());
  }
  return text;
}

// Within this time, moments of several instances are one. Their hosts' clocks
// may differ.
int64_t SlackOf(const ServerFault& fault) {
  if (!fault.reset_connections()) return 0;
  return fault.has_repeat_ns() ? fault.repeat_ns() / 2
                               : std::numeric_limits<int64_t>::max();
}

void Sort(std::vector<FaultSpan>& spans) {
  std::sort(spans.begin(), spans.end(),
            [](const FaultSpan& a, const FaultSpan& b) {
              return a.begin_ns < b.begin_ns;
            });
}

// Instances have almost the same times.
std::vector<FaultSpan> Unite(std::vector<FaultSpan> spans, int64_t slack_ns) {
  Sort(spans);
  std::vector<FaultSpan> united;
  for (const FaultSpan& span : spans) {
    if (united.empty() ||
        span.begin_ns > base::SaturatingAdd(united.back().end_ns, slack_ns)) {
      united.push_back(span);
    } else if (slack_ns == 0) {
      united.back().end_ns = std::max(united.back().end_ns, span.end_ns);
    }
  }
  return united;
}

}  // namespace

std::vector<FaultSpan> TimesOf(const FaultLog& log) {
  std::vector<FaultSpan> times;
  for (const FaultTime& time : log.times()) {
    const int64_t begin_ns = time.begin_timestamp_ns();
    if (begin_ns < 0 || time.end_timestamp_ns() < begin_ns) continue;
    times.push_back({begin_ns, time.end_timestamp_ns()});
  }
  Sort(times);
  return times;
}

std::vector<PlannedFault> PlannedFaultsOf(const TestResult& result) {
  std::vector<PlannedFault> faults;
  for (const ServerFault& config : result.traffic_config().server_faults()) {
    PlannedFault& fault = faults.emplace_back();
    fault.name = config.name();
    fault.description = DescriptionOf(config);
    bool has_log = false;
    bool has_times = false;
    for (const auto& [instance, log] : result.service_logs().instance_logs()) {
      const auto found = log.fault_logs().find(config.name());
      if (found == log.fault_logs().end()) continue;
      has_log = true;
      fault.has_more_spans |=
          found->second.times_size() >= results::kMaxFaultTimes;
      base::SaturatingAddTo(fault.request_count, found->second.request_count());
      base::SaturatingAddTo(fault.connection_count,
                            found->second.connection_count());
      has_times |= found->second.times_size() > 0;
      for (const FaultSpan& span : TimesOf(found->second)) {
        fault.spans.push_back(span);
      }
    }
    fault.spans = Unite(std::move(fault.spans), SlackOf(config));
    fault.was_missed = has_log && !has_times;
  }
  return faults;
}

bool AnyHappened(const std::vector<PlannedFault>& faults) {
  return std::any_of(
      faults.begin(), faults.end(),
      [](const PlannedFault& fault) { return !fault.was_missed; });
}

std::vector<ServiceAdmission> AdmissionsOf(const TestResult& result) {
  std::map<std::string, ServiceAdmission> by_service;
  for (const auto& [instance, log] : result.service_logs().instance_logs()) {
    if (!log.has_admission_log()) continue;
    const std::string service = config::ServiceOf(instance);
    ServiceAdmission& admission = by_service[service];
    admission.service = service;
    const AdmissionLog& counts = log.admission_log();
    base::SaturatingAddTo(admission.admitted_count, counts.admitted_count());
    base::SaturatingAddTo(admission.refused_count, counts.refused_count());
    results::AddHistogram(counts.wait_ns(), admission.wait_ns).IgnoreError();
  }
  std::vector<ServiceAdmission> admissions;
  for (auto& [service, admission] : by_service) {
    admissions.push_back(std::move(admission));
  }
  return admissions;
}

// ---- Recovery ---------------------------------------------------------------

namespace {

constexpr size_t kMaxFaultWindows = 2000;

using Intervals = absl::Span<const LoadInterval>;

// Whether the interval's goodput says how the system does. That of an open loop
// in which nothing was due says nothing.
bool IsTelling(const LoadCurve& curve, const LoadInterval& interval) {
  return !curve.is_open_loop || interval.offered > 0;
}

// An interval that shows the system without faults, for windows that begin from
// one time until another.
struct QuietInterval {
  int64_t from_ns = 0;   // its end
  int64_t until_ns = 0;  // the first end of a window that overlaps it
  double goodput = 0;
};

std::vector<QuietInterval> QuietIntervals(
    const LoadCurve& curve, absl::Span<const FaultWindow> windows) {
  // The ends of windows that overlap this interval or later ones.
  std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> ends_ns;
  size_t next = 0;
  std::vector<QuietInterval> quiet;
  for (const LoadInterval& interval : curve.intervals) {
    const int64_t end_ns = interval.begin_ns + curve.interval_ns;
    for (; next < windows.size() && windows[next].begin_ns < end_ns; ++next) {
      ends_ns.push(windows[next].end_ns);
    }
    while (!ends_ns.empty() && ends_ns.top() < interval.begin_ns) ends_ns.pop();
    if (interval.is_warmup || !IsTelling(curve, interval)) continue;
    quiet.push_back({.from_ns = end_ns,
                     .until_ns = ends_ns.empty()
                                     ? std::numeric_limits<int64_t>::max()
                                     : std::max(end_ns, ends_ns.top()),
                     .goodput = static_cast<double>(interval.goodput)});
  }
  return quiet;
}

// The median goodput of the quiet intervals before a window.
double MedianBefore(absl::Span<const QuietInterval> quiet,
                    const FaultWindow& window) {
  std::vector<double> goodput;
  for (const QuietInterval& interval : quiet) {
    if (interval.from_ns <= window.begin_ns &&
        interval.until_ns > window.begin_ns) {
      goodput.push_back(interval.goodput);
    }
  }
  return stats::Median(std::move(goodput));
}

// The first window that enough quiet intervals precede, and the goodput of
// these.
struct FirstKnown {
  size_t window = 0;  // position; the number of windows if there is none
  double goodput = 0;
};

FirstKnown FindFirstKnown(const LoadCurve& curve,
                          absl::Span<const FaultWindow> windows) {
  const std::vector<QuietInterval> quiet = QuietIntervals(curve, windows);
  std::vector<int64_t> until_ns;
  for (const QuietInterval& interval : quiet) {
    until_ns.push_back(interval.until_ns);
  }
  std::sort(until_ns.begin(), until_ns.end());
  size_t begun = 0;
  size_t over = 0;
  for (size_t i = 0; i < windows.size(); ++i) {
    const int64_t time_ns = windows[i].begin_ns;
    while (begun < quiet.size() && quiet[begun].from_ns <= time_ns) ++begun;
    while (over < begun && until_ns[over] <= time_ns) ++over;
    if (begun - over >= kIntervalsBack) {
      return {.window = i, .goodput = MedianBefore(quiet, windows[i])};
    }
  }
  return {.window = windows.size()};
}

bool IsBack(const LoadCurve& curve, const LoadInterval& interval,
            double before) {
  const double possible =
      curve.is_open_loop
          ? std::min(before, static_cast<double>(interval.offered))
          : before;
  return static_cast<double>(interval.goodput) >= kGoodputIsBack * possible;
}

// Judges what follows a window until the next one begins.
class WindowJudge {
 public:
  WindowJudge(const LoadCurve& curve, const FaultWindow& window,
              std::optional<int64_t> next_begin_ns, double before)
      : curve_(curve),
        window_(window),
        next_begin_ns_(next_begin_ns),
        before_(before) {}

  Recovery Judge() {
    Recovery recovery = {.window = window_};
    const Intervals after = IntervalsAfter();
    const auto telling_count = std::count_if(
        after.begin(), after.end(),
        [&](const auto& interval) { return IsTelling(curve_, interval); });
    if (!after.empty()) {
      const int64_t end_ns = after.back().begin_ns + curve_.interval_ns;
      recovery.observed_s = base::ToSeconds(end_ns - window_.end_ns);
    }
    const auto first = FirstBack(after);
    if (first) {
      recovery.after_s =
          base::ToSeconds(std::max<int64_t>(0, *first - window_.end_ns));
      recovery.outcome = WasAway(*first) ? RecoveryOutcome::kRecovered
                                         : RecoveryOutcome::kUnaffected;
    } else if (telling_count < kIntervalsBack) {
      recovery.outcome = RecoveryOutcome::kTooShort;
    } else {
      recovery.outcome = next_begin_ns_ ? RecoveryOutcome::kNotBeforeNext
                                        : RecoveryOutcome::kNever;
    }
    return recovery;
  }

 private:
  // From the interval in which the fault ended.
  Intervals IntervalsAfter() const {
    const Intervals all = curve_.intervals;
    size_t begin = 0;
    while (begin < all.size() &&
           all[begin].begin_ns + curve_.interval_ns <= window_.end_ns) {
      ++begin;
    }
    size_t end = all.size();
    while (end > begin && next_begin_ns_ &&
           all[end - 1].begin_ns + curve_.interval_ns > *next_begin_ns_) {
      --end;
    }
    return all.subspan(begin, end - begin);
  }

  std::optional<int64_t> FirstBack(Intervals after) const {
    int held = 0;
    int64_t first_ns = 0;
    for (const LoadInterval& interval : after) {
      if (!IsTelling(curve_, interval)) continue;
      held = IsBack(curve_, interval, before_) ? held + 1 : 0;
      if (held == 1) first_ns = interval.begin_ns;
      if (held == kIntervalsBack) return first_ns;
    }
    return std::nullopt;
  }

  // Whether goodput was low at any time from the window's begin to `until_ns`.
  bool WasAway(int64_t until_ns) const {
    return std::any_of(curve_.intervals.begin(), curve_.intervals.end(),
                       [&](const LoadInterval& interval) {
                         return interval.begin_ns + curve_.interval_ns >
                                    window_.begin_ns &&
                                interval.begin_ns < until_ns &&
                                !IsBack(curve_, interval, before_);
                       });
  }

  const LoadCurve& curve_;
  const FaultWindow& window_;
  std::optional<int64_t> next_begin_ns_;
  double before_;
};

// When the next fault is in effect after the window; nothing if none is.
std::optional<int64_t> NextBegin(absl::Span<const FaultWindow> windows,
                                 const FaultWindow& window) {
  std::optional<int64_t> next_ns;
  for (const FaultWindow& other : windows) {
    if (other.end_ns <= window.end_ns) continue;
    const int64_t begin_ns = std::max(other.begin_ns, window.end_ns);
    next_ns = std::min(next_ns.value_or(begin_ns), begin_ns);
  }
  return next_ns;
}

// Joins the times of one fault, which are ascending.
void AppendJoined(const std::string& fault, const std::vector<FaultSpan>& times,
                  std::vector<FaultWindow>& windows) {
  bool is_first = true;
  for (const auto& [begin_ns, end_ns] : times) {
    if (!is_first && begin_ns - base::kNsPerSecond < windows.back().end_ns) {
      windows.back().end_ns = std::max(windows.back().end_ns, end_ns);
    } else {
      windows.push_back({fault, begin_ns, end_ns});
    }
    is_first = false;
  }
}

}  // namespace

std::vector<FaultWindow> FaultWindowsOf(const TestResult& result) {
  std::map<std::string, std::vector<FaultSpan>> times;
  for (const auto& [instance, log] : result.service_logs().instance_logs()) {
    for (const auto& [fault, fault_log] : log.fault_logs()) {
      for (const FaultSpan& span : TimesOf(fault_log)) {
        times[fault].push_back(span);
      }
    }
  }
  std::vector<FaultWindow> windows;
  for (auto& [fault, of_fault] : times) {
    Sort(of_fault);
    AppendJoined(fault, of_fault, windows);
  }
  std::stable_sort(windows.begin(), windows.end(),
                   [](const FaultWindow& a, const FaultWindow& b) {
                     return a.begin_ns < b.begin_ns;
                   });
  if (windows.size() > kMaxFaultWindows) windows.resize(kMaxFaultWindows);
  return windows;
}

absl::string_view RecoveryOutcomeName(RecoveryOutcome outcome) {
  switch (outcome) {
    case RecoveryOutcome::kUnaffected:
      return "unaffected";
    case RecoveryOutcome::kRecovered:
      return "recovered";
    case RecoveryOutcome::kNotBeforeNext:
      return "not_before_next_fault";
    case RecoveryOutcome::kNever:
      return "never";
    case RecoveryOutcome::kTooShort:
      return "too_short";
    case RecoveryOutcome::kUnknownBefore:
      break;
  }
  return "unknown_before";
}

std::vector<Recovery> RecoveriesOf(const LoadCurve& curve,
                                   absl::Span<const FaultWindow> windows) {
  const FirstKnown known = FindFirstKnown(curve, windows);
  const absl::Span<const FaultWindow> judged = windows.subspan(known.window);
  std::vector<Recovery> recoveries;
  for (size_t i = 0; i < windows.size(); ++i) {
    const FaultWindow& window = windows[i];
    if (i < known.window || known.goodput <= 0) {
      recoveries.push_back({.window = window});
      continue;
    }
    Recovery& recovery = recoveries.emplace_back(
        WindowJudge(curve, window, NextBegin(judged, window), known.goodput)
            .Judge());
    recovery.before_per_second = known.goodput * base::kNsPerSecond /
                                 static_cast<double>(curve.interval_ns);
  }
  return recoveries;
}

std::vector<Recovery> RecoveriesOf(const TestResult& result) {
  const std::vector<FaultWindow> windows = FaultWindowsOf(result);
  std::vector<Recovery> all;
  if (windows.empty()) return all;
  for (const int rpc_index : ListRpcs(result)) {
    for (Recovery& recovery :
         RecoveriesOf(LoadCurveOf(result, rpc_index), windows)) {
      recovery.rpc = results::RpcName(result, rpc_index);
      all.push_back(std::move(recovery));
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Recovery& a, const Recovery& b) {
                     return a.window.begin_ns < b.window.begin_ns;
                   });
  return all;
}

}  // namespace distbench::report
