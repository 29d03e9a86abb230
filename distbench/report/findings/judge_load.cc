// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Findings on the load: whether it was sent as configured, and on time.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/base/human_units.h"
#include "distbench/base/saturating_add.h"
#include "distbench/config/syntax/fanout_filter.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/report/findings/judge_parts.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/walk.h"
#include "distbench/stats/log_histogram.h"
#include "distbench/stats/run_interval.h"

namespace distbench::report {
namespace {

// Shares of the offered load. Above the first, unsent RPCs make a run invalid;
// above the second, they deserve a warning.
constexpr double kInvalidUnsent = 0.01;
constexpr double kManyUnsent = 0.001;

// Share of the offered load. Above it, a cap makes the loop neither open nor
// closed.
constexpr double kManyHeldBack = 0.01;

// Limits of a high percentile of the lateness, as a share of the response
// time's. The absolute limits below are minima: shorter delays are just the
// time that it takes to wake a thread.
constexpr double kInvalidLateness = 0.5;
constexpr double kMuchLateness = 0.1;
constexpr double kInvalidLatenessNs = 1e6;
constexpr double kMuchLatenessNs = 1e5;

// The percentiles that are compared, of which the first with so many RPCs
// beyond it is; those of fewer are chance.
constexpr int kLatePercents[] = {99, 95, 90};
constexpr uint64_t kFewestBeyond = 10;

// Intervals, and sends in each of them, that a test of arrivals needs.
constexpr size_t kFewestIntervals = 10;
constexpr double kFewestPerInterval = 20;
constexpr int64_t kMostIntervals = 1 << 20;

// Number of standard deviations that rules out chance.
constexpr double kBeyondChance = 5;

// Spread of a constant rate, relative to the rate.
constexpr double kMuchSpread = 0.05;

double ShareOf(int64_t count, const OfferedLoad& load) {
  return static_cast<double>(count) / static_cast<double>(load.offered_count());
}

// Whether an open loop that sends the RPC may only have so many in flight.
bool HasCap(const DistributedSystemDescription& test, const std::string& rpc) {
  return std::any_of(
      test.actions().begin(), test.actions().end(), [&](const Action& action) {
        const bool may_send =
            action.rpc_name() == rpc || action.has_action_list_name();
        return may_send && action.iterations().open_loop_interval_ns() > 0 &&
               action.iterations().has_max_parallel_iterations();
      });
}

void JudgeUnsent(const std::string& name, const OfferedLoad& load, bool has_cap,
                 FindingList& findings) {
  if (load.unsent_count() == 0) return;
  const double share = ShareOf(load.unsent_count(), load);
  const Finding::Severity severity = share > kInvalidUnsent ? Finding::INVALID
                                     : share > kManyUnsent  ? Finding::WARN
                                                            : Finding::NOTE;
  findings.Add(
      severity, "unsent_load",
      absl::StrCat(name, ": ", load.unsent_count(), " of ",
                   load.offered_count(), " RPCs that were due (",
                   base::HumanPercent(share), ") were never sent, because ",
                   has_cap ? "max_parallel_iterations or full send queues"
                           : "full send queues",
                   " held them back. They count as failed"),
      has_cap ? "Lower the load to what was sent, raise "
                "max_parallel_iterations, or use more clients."
              : "Lower the load to what was sent, or find out why the server "
                "takes less: it is slow, or a limit on its rate is set.");
}

void JudgeHeldBack(const std::string& name, const OfferedLoad& load,
                   FindingList& findings) {
  if (load.held_back_count() == 0) return;
  const double share = ShareOf(load.held_back_count(), load);
  findings.Add(
      share > kManyHeldBack ? Finding::WARN : Finding::NOTE, "held_back",
      absl::StrCat(name, ": max_parallel_iterations delayed ",
                   load.held_back_count(), " RPCs (", base::HumanPercent(share),
                   "). Response times include the delay, service times do "
                   "not"),
      "Raise the cap or leave it out, so that requests are sent when they are "
      "due; or lower the rate.");
}

// ---- Arrivals ---------------------------------------------------------------

// Whether the number of targets of the RPC is drawn, so that the arrivals alone
// do not tell how many are sent.
bool HasRandomFanout(const DistributedSystemDescription& test,
                     const std::string& rpc) {
  for (const RpcSpec& spec : test.rpc_descriptions()) {
    if (spec.name() != rpc) continue;
    const auto fanout = config::ParseFanoutFilter(spec.fanout_filter());
    return fanout.ok() && fanout->choices.size() > 1;
  }
  return false;
}

bool IsExponential(const Iterations& iterations) {
  return iterations.open_loop_interval_distribution() == "exponential";
}

// Whether the counts per second of the arrival process are known here. Composed
// arrivals are judged by JudgeComposedArrivals().
bool IsKnownProcess(const Iterations& iterations) {
  const std::string& process = iterations.open_loop_interval_distribution();
  return !iterations.has_arrivals() &&
         (IsExponential(iterations) || process.empty() ||
          process == "constant");
}

// The counts per interval of a Poisson process have a variance equal to their
// mean: the index of dispersion, times n - 1, has a chi-squared distribution
// with n - 1 degrees of freedom (Cox and Lewis, The Statistical Analysis of
// Series of Events, 1966, section 6.3), whose cube root is close to normal
// (Wilson and Hilferty, The distribution of chi-square, 1931). An iteration
// that sends f RPCs at once multiplies the index by f.
void JudgePoisson(const std::string& what, double fanout, int64_t interval_ns,
                  const std::vector<double>& sent, FindingList& findings) {
  const double dispersion = stats::Variance(sent) / stats::Mean(sent) / fanout;
  const double variance = 2.0 / (9.0 * static_cast<double>(sent.size() - 1));
  const double deviations =
      (std::cbrt(dispersion) - (1 - variance)) / std::sqrt(variance);
  const bool is_big = dispersion > 1.5 || dispersion < 0.5;
  if (std::abs(deviations) < kBeyondChance || !is_big) return;
  findings.Add(
      Finding::WARN, "arrivals",
      absl::StrCat(what,
                   " should have been sent as a Poisson process, but sends per "
                   "interval vary ",
                   absl::StrFormat("%.2f", dispersion),
                   " times as much as those of one (index of dispersion over ",
                   sent.size(), " ", Intervals(interval_ns),
                   ", beyond chance). Queues, and so latencies, "
                   "depend on it"),
      std::string(kArrivalsAdvice));
}

void JudgeConstant(const std::string& what, int64_t interval_ns,
                   const std::vector<double>& sent, FindingList& findings) {
  const double spread = std::sqrt(stats::Variance(sent)) / stats::Mean(sent);
  if (spread < kMuchSpread) return;
  findings.Add(
      Finding::WARN, "arrivals",
      absl::StrCat(what,
                   " should have been sent at a constant rate, but "
                   "sends per interval spread by ",
                   base::HumanPercent(spread), " (standard deviation over ",
                   sent.size(), " ", Intervals(interval_ns),
                   "). Queues, and so latencies, depend on it"),
      std::string(kArrivalsAdvice));
}

void JudgeSeries(const std::string& what, const Iterations& iterations,
                 const RpcTimeSeries& series, FindingList& findings) {
  const std::vector<double> sent = SentPerInterval(series, kMostIntervals);
  if (sent.size() < kFewestIntervals) return;
  const double mean = stats::Mean(sent);
  const int64_t interval_ns = series.interval_ns();
  const double due = static_cast<double>(interval_ns) /
                     static_cast<double>(iterations.open_loop_interval_ns());
  const double fanout = std::max(1.0, std::round(mean / due));
  if (mean / fanout < kFewestPerInterval) return;
  if (IsExponential(iterations)) {
    JudgePoisson(what, fanout, interval_ns, sent, findings);
  } else {
    JudgeConstant(what, interval_ns, sent, findings);
  }
}

}  // namespace

bool IsHeldBack(const OfferedLoad& load) {
  return (load.unsent_count() + load.held_back_count()) * 100 >
         load.offered_count();
}

std::optional<SendingLoop> OnlyLoopOf(const DistributedSystemDescription& test,
                                      const std::string& service,
                                      const std::string& rpc) {
  std::optional<SendingLoop> found;
  if (HasRandomFanout(test, rpc)) return found;
  for (int list = 0; list < test.action_lists_size(); ++list) {
    const ActionList& actions = test.action_lists(list);
    for (int i = 0; i < actions.action_names_size(); ++i) {
      const auto action =
          std::find_if(test.actions().begin(), test.actions().end(),
                       [&](const Action& each) {
                         return each.name() == actions.action_names(i);
                       });
      if (action == test.actions().end() || action->rpc_name() != rpc) continue;
      if (found.has_value() || actions.name() != service ||
          action->iterations().open_loop_interval_ns() <= 0) {
        return std::nullopt;
      }
      found = SendingLoop{&*action, list, i};
    }
  }
  return found;
}

std::vector<double> SentPerInterval(const RpcTimeSeries& series, int64_t most) {
  std::vector<double> sent;
  if (series.intervals_size() < 3) return sent;
  const int64_t first = series.intervals(0).index() + 1;
  int64_t last = first;
  for (const RpcInterval& interval : series.intervals()) {
    if (interval.offered_count() > 0) last = interval.index();
  }
  sent.resize(
      std::clamp<int64_t>(base::SaturatingSubtract(last, first), 0, most));
  for (const RpcInterval& interval : series.intervals()) {
    const int64_t position = base::SaturatingSubtract(interval.index(), first);
    if (position < 0 || position >= std::ssize(sent)) continue;
    sent[position] += static_cast<double>(interval.sent_count());
  }
  return sent;
}

void JudgeLoad(const JudgedRun& run, FindingList& findings) {
  const DistributedSystemDescription& test = run.result.traffic_config();
  for (const int i : ListRpcs(run.result)) {  // those of replay traces, too
    const OfferedLoad load = run.LoadOf(i);
    if (load.offered_count() == 0) continue;
    const std::string name = run.NameOf(i);
    JudgeUnsent(name, load, HasCap(test, name), findings);
    JudgeHeldBack(name, load, findings);
  }
}

namespace {

// Absent if the RPCs are too few for any.
std::optional<int> LatePercent(uint64_t count) {
  for (const int percent : kLatePercents) {
    if (count * (100 - percent) >= kFewestBeyond * 100) return percent;
  }
  return std::nullopt;
}

void JudgeLateness(const std::string& name, const results::RpcTotals& rpc,
                   uint64_t failed_count, bool is_simulated,
                   FindingList& findings) {
  const std::optional<int> percent = LatePercent(rpc.lateness_ns.count());
  if (!percent || rpc.response_time_ns.count() == 0) return;
  const double quantile = *percent / 100.0;
  const double late =
      static_cast<double>(rpc.lateness_ns.ValueAtQuantile(quantile));
  const double response =
      static_cast<double>(rpc.response_time_ns.ValueAtQuantile(quantile));
  const double share = late / std::max(1.0, response);
  const bool invalid = late > kInvalidLatenessNs && share > kInvalidLateness;
  if (!invalid && (late < kMuchLatenessNs || share < kMuchLateness)) return;
  findings.Add(
      invalid ? Finding::INVALID : Finding::WARN, "late_sends",
      absl::StrCat(name, ": ", 100 - *percent,
                   " in a hundred sends were late by ",
                   base::HumanDuration(late), " or more, which is ",
                   base::HumanPercent(share), " of p", *percent,
                   " of the response time", OfThoseThatSucceeded(failed_count),
                   " (", base::HumanDuration(response), "): ",
                   invalid ? "the tail is mostly the generator's own"
                           : "part of the tail is the generator's own"),
      is_simulated
          ? "Lower the load, or give the client's simulated host more CPUs. "
            "Until sends are in time, look at service times."
          : "Lower the load, give the client more CPUs, or let it spin "
            "(delay_actions_by_spinning). If that does not help, use more "
            "clients. Until sends are in time, look at service times.");
}

}  // namespace

void JudgeLateness(const JudgedRun& run, FindingList& findings) {
  const auto& rpcs = run.totals.rpcs;
  for (const int i : ListRpcs(run.result)) {  // those of replay traces, too
    const auto rpc = rpcs.find(run.NameOf(i));
    // RPCs that a cap holds back are late for another reason.
    if (rpc == rpcs.end() || IsHeldBack(run.LoadOf(i))) continue;
    JudgeLateness(rpc->first, rpc->second,
                  ResponseTimeOf(run.totals, rpc->first).failed_count,
                  IsSimulated(run.result), findings);
  }
}

void JudgeArrivals(const JudgedRun& run, FindingList& findings) {
  const TestResult& result = run.result;
  for (const auto& [instance, log] : result.service_logs().instance_logs()) {
    const std::string service = config::ServiceOf(instance);
    for (const auto& [rpc_index, series] : log.rpc_time_series()) {
      if (IsHeldBack(run.LoadOf(rpc_index))) continue;
      const std::string rpc = run.NameOf(rpc_index);
      const auto loop = OnlyLoopOf(result.traffic_config(), service, rpc);
      if (!loop || !IsKnownProcess(loop->action->iterations())) continue;
      JudgeSeries(absl::StrCat(rpc, " of ", instance),
                  loop->action->iterations(), series, findings);
    }
  }
}

}  // namespace distbench::report
