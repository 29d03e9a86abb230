// Findings on the load: whether it was sent as configured, and on time.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/config/syntax/fanout_filter.h"
#include "distbench/report/findings/judge_parts.h"
#include "distbench/report/measurements/client_sums.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/results/walk.h"
#include "distbench/stats/log_histogram.h"

namespace distbench::report {
namespace {

// Shares of the offered load. Above the first, unsent RPCs make a run invalid;
// above the second, they deserve a warning.
constexpr double kInvalidUnsent = 0.01;
constexpr double kManyUnsent = 0.001;

// Share of the offered load. Above it, a cap makes the loop neither open nor
// closed.
constexpr double kManyHeldBack = 0.01;

// Limits of the lateness's 99th percentile, as a share of the response time's.
// The absolute limits below are minima: shorter delays are just the time that
// it takes to wake a thread.
constexpr double kInvalidLateness = 0.5;
constexpr double kMuchLateness = 0.1;
constexpr double kInvalidLatenessNs = 1e6;
constexpr double kMuchLatenessNs = 1e5;
constexpr uint64_t kFewestForP99 = 100;

// Intervals, and sends in each of them, that a test of arrivals needs.
constexpr size_t kFewestIntervals = 10;
constexpr double kFewestPerInterval = 20;

// Number of standard deviations that rules out chance.
constexpr double kBeyondChance = 5;

// Spread of a constant rate, relative to the rate.
constexpr double kMuchSpread = 0.05;

void JudgeUnsent(const std::string& name, const RpcLoad& load,
                 FindingList& findings) {
  if (load.unsent_count == 0) return;
  const double share = static_cast<double>(load.unsent_count) /
                       static_cast<double>(load.offered_count);
  const Finding::Severity severity = share > kInvalidUnsent ? Finding::INVALID
                                     : share > kManyUnsent  ? Finding::WARN
                                                            : Finding::NOTE;
  findings.Add(
      severity, "unsent_load",
      absl::StrCat(
          name, ": ", load.unsent_count, " of ", load.offered_count,
          " RPCs that were due (", Percent(share),
          ") were never sent, because an in-flight cap or full send "
          "queues held them back. They count as failed. Lower the load, "
          "or raise max_parallel_iterations"));
}

void JudgeHeldBack(const std::string& name, const RpcLoad& load,
                   FindingList& findings) {
  if (load.held_back_count == 0) return;
  const double share = static_cast<double>(load.held_back_count) /
                       static_cast<double>(load.offered_count);
  findings.Add(
      share > kManyHeldBack ? Finding::WARN : Finding::NOTE, "held_back",
      absl::StrCat(name, ": max_parallel_iterations delayed ",
                   load.held_back_count, " iterations (", Percent(share),
                   "). Response times include the delay, service times do "
                   "not. For an open loop, raise "
                   "the cap or leave it out"));
}

// ---- Arrivals ---------------------------------------------------------------

struct Arrivals {
  bool exponential = false;
  double interval_ns = 0;
};

// How a service's main program sends an RPC. Absent unless exactly one open
// loop sends it, to a number of targets that is not drawn, with an arrival
// process whose counts per second are known.
std::optional<Arrivals> ArrivalsOf(const DistributedSystemDescription& test,
                                   const std::string& service,
                                   const std::string& rpc) {
  std::optional<Arrivals> found;
  if (HasRandomFanout(test, rpc)) return found;
  for (const ActionList& list : test.action_lists()) {
    for (const std::string& name : list.action_names()) {
      const auto action = std::find_if(
          test.actions().begin(), test.actions().end(),
          [&](const Action& candidate) { return candidate.name() == name; });
      if (action == test.actions().end() || action->rpc_name() != rpc) continue;
      const Iterations& iterations = action->iterations();
      const std::string& process = iterations.open_loop_interval_distribution();
      const bool exponential = process == "exponential";
      // Composed arrivals are judged by JudgeComposedArrivals().
      const bool known =
          !iterations.has_arrivals() &&
          (exponential || process.empty() || process == "constant");
      if (found.has_value() || list.name() != service || !known ||
          iterations.open_loop_interval_ns() <= 0) {
        return std::nullopt;
      }
      found = Arrivals{exponential,
                       static_cast<double>(iterations.open_loop_interval_ns())};
    }
  }
  return found;
}

// Returns the sends of each interval except the first and the last, which are
// incomplete.
std::vector<double> SentPerInterval(const RpcTimeSeries& series) {
  std::vector<double> counts;
  if (series.intervals_size() < 3) return counts;
  const int64_t first = series.intervals(0).index();
  int64_t last = first;
  for (const RpcInterval& interval : series.intervals()) {
    if (interval.offered_count() > 0) last = interval.index();
  }
  counts.resize(std::clamp<int64_t>(last - first - 1, 0, 1 << 20), 0);
  for (const RpcInterval& interval : series.intervals()) {
    const int64_t position = interval.index() - first - 1;
    if (position < 0 || position >= static_cast<int64_t>(counts.size())) {
      continue;
    }
    counts[position] = static_cast<double>(interval.sent_count());
  }
  return counts;
}

struct Moments {
  double mean = 0;
  double variance = 0;
};

Moments MomentsOf(const std::vector<double>& values) {
  Moments moments;
  for (double value : values) moments.mean += value;
  moments.mean /= static_cast<double>(values.size());
  for (double value : values) {
    moments.variance += (value - moments.mean) * (value - moments.mean);
  }
  moments.variance /= static_cast<double>(values.size() - 1);
  return moments;
}

// The counts per interval of a Poisson process have a variance equal to their
// mean: the index of dispersion, times n - 1, has a chi-squared distribution
// with n - 1 degrees of freedom (Cox and Lewis, The Statistical Analysis of
// Series of Events, 1966, section 6.3), whose cube root is close to normal
// (Wilson and Hilferty, The distribution of chi-square, 1931). An iteration
// that sends f RPCs at once multiplies the index by f.
void JudgePoisson(const std::string& what, double fanout, size_t count,
                  int64_t interval_ns, const Moments& sent,
                  FindingList& findings) {
  const double dispersion = sent.variance / sent.mean / fanout;
  const double variance = 2.0 / (9.0 * static_cast<double>(count - 1));
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
                   count, " ", Intervals(interval_ns),
                   ", beyond chance). Queues, and so latencies, "
                   "depend on it. Look for pauses of the client's host"));
}

void JudgeConstant(const std::string& what, size_t count, int64_t interval_ns,
                   const Moments& sent, FindingList& findings) {
  const double deviation = std::sqrt(sent.variance);
  if (deviation < kMuchSpread * sent.mean) return;
  findings.Add(
      Finding::WARN, "arrivals",
      absl::StrCat(what,
                   " should have been sent at a constant rate, but "
                   "sends per interval spread by ",
                   Percent(deviation / sent.mean), " (standard deviation over ",
                   count, " ", Intervals(interval_ns),
                   "). Queues, and so latencies, depend on it. Look "
                   "for pauses of the client's host"));
}

void JudgeSeries(const std::string& what, const Arrivals& arrivals,
                 const RpcTimeSeries& series, FindingList& findings) {
  const std::vector<double> counts = SentPerInterval(series);
  if (counts.size() < kFewestIntervals) return;
  const Moments sent = MomentsOf(counts);
  const int64_t interval_ns = series.interval_ns();
  const double fanout =
      std::max(1.0, std::round(sent.mean * arrivals.interval_ns /
                               static_cast<double>(interval_ns)));
  if (sent.mean / fanout < kFewestPerInterval) return;
  if (arrivals.exponential) {
    JudgePoisson(what, fanout, counts.size(), interval_ns, sent, findings);
  } else {
    JudgeConstant(what, counts.size(), interval_ns, sent, findings);
  }
}

}  // namespace

RpcLoad LoadOf(const TestResult& result, int rpc_index) {
  const OfferedLoad load =
      OfferedLoadOf(result, results::RpcName(result, rpc_index))
          .value_or(OfferedLoad());
  return {.offered_count = load.offered_count(),
          .unsent_count = load.unsent_count(),
          .held_back_count = load.held_back_count()};
}

bool HasRandomFanout(const DistributedSystemDescription& test,
                     const std::string& rpc) {
  for (const RpcSpec& spec : test.rpc_descriptions()) {
    if (spec.name() != rpc) continue;
    const auto fanout = config::ParseFanoutFilter(spec.fanout_filter());
    return fanout.ok() && fanout->choices.size() > 1;
  }
  return false;
}

void JudgeLoad(const TestResult& result, FindingList& findings) {
  for (int i = 0; i < result.traffic_config().rpc_descriptions_size(); ++i) {
    const RpcLoad load = LoadOf(result, i);
    if (load.offered_count == 0) continue;
    JudgeUnsent(results::RpcName(result, i), load, findings);
    JudgeHeldBack(results::RpcName(result, i), load, findings);
  }
}

void JudgeLateness(const TestResult& result, const TestTotals& totals,
                   FindingList& findings) {
  for (int i = 0; i < result.traffic_config().rpc_descriptions_size(); ++i) {
    const std::string name = results::RpcName(result, i);
    const auto rpc = totals.rpcs.find(name);
    if (rpc == totals.rpcs.end()) continue;
    const stats::LogHistogram& lateness_ns = rpc->second.lateness_ns;
    // RPCs that a cap holds back are late for another reason.
    if (lateness_ns.count() < kFewestForP99 ||
        rpc->second.response_time_ns.count() == 0 ||
        LoadOf(result, i).is_held_back()) {
      continue;
    }
    const double late = static_cast<double>(lateness_ns.ValueAtQuantile(0.99));
    const double response =
        static_cast<double>(rpc->second.response_time_ns.ValueAtQuantile(0.99));
    const double share = late / std::max(1.0, response);
    const bool invalid = late > kInvalidLatenessNs && share > kInvalidLateness;
    if (!invalid && (late < kMuchLatenessNs || share < kMuchLateness)) continue;
    findings.Add(
        invalid ? Finding::INVALID : Finding::WARN, "late_sends",
        absl::StrCat(name, ": one send in a hundred was late by ",
                     Duration(late), " or more, which is ", Percent(share),
                     " of the 99th percentile of the response time (",
                     Duration(response), "): ",
                     invalid ? "the tail is mostly the generator's own. "
                             : "part of the tail is the generator's own. ",
                     IsSimulated(result)
                         ? "Lower the load, or give the client's simulated "
                           "host more CPUs"
                         : "Lower the load, give the client more CPUs, or let "
                           "it spin (delay_actions_by_spinning)"));
  }
}

void JudgeArrivals(const TestResult& result, FindingList& findings) {
  const DistributedSystemDescription& test = result.traffic_config();
  for (const auto& [instance, log] : result.service_logs().instance_logs()) {
    const std::string service = instance.substr(0, instance.find('/'));
    for (const auto& [rpc_index, series] : log.rpc_time_series()) {
      if (LoadOf(result, rpc_index).is_held_back()) continue;
      const std::string rpc = results::RpcName(result, rpc_index);
      const auto arrivals = ArrivalsOf(test, service, rpc);
      if (!arrivals.has_value()) continue;
      JudgeSeries(absl::StrCat(rpc, " of ", instance), *arrivals, series,
                  findings);
    }
  }
}

}  // namespace distbench::report
