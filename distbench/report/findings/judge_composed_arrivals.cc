// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Finding on composed arrivals: whether what was sent over time is what was
// asked for. The arrivals follow from the test's seed, and are drawn again.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/base/human_units.h"
#include "distbench/base/saturating_add.h"
#include "distbench/config/arrivals/arrival_stream.h"
#include "distbench/config/arrivals/check_arrivals.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "distbench/config/syntax/instance_names.h"
#include "distbench/report/findings/judge_parts.h"
#include "distbench/results/walk.h"

namespace distbench::report {
namespace {

// Root mean square deviation of sends per interval, relative to their mean.
constexpr double kMuchDeviation = 0.05;

constexpr int64_t kFewestComparedIntervals = 10;
constexpr double kFewestArrivals = 20;  // per interval, on average
constexpr int64_t kMostComparedIntervals = 100'000;

// An arrival so close to the end of an interval may have been sent in the next
// one: clocks differ, and sends are a little late.
constexpr double kBlurredShare = 0.01;

// The most arrivals to draw for one result, so that judging it takes no longer
// than about a second.
constexpr int64_t kMostDrawn = 10'000'000;
constexpr int64_t kCostOfSearch = 1000;  // in arrivals

bool StartsWithTraffic(const Action& action) {
  return action.dependencies().empty() && action.predicates().empty() &&
         action.delay_distribution_name().empty();
}

// Returns nothing unless the RPC is sent by arrivals that can be drawn again.
std::optional<SendingLoop> DrawableLoopOf(
    const DistributedSystemDescription& test, const std::string& service,
    const std::string& rpc) {
  const std::optional<SendingLoop> loop = OnlyLoopOf(test, service, rpc);
  if (!loop || !loop->action->iterations().has_arrivals() ||
      !StartsWithTraffic(*loop->action)) {
    return std::nullopt;
  }
  config::Problems problems;
  config::CheckArrivals(loop->action->iterations().arrivals(), config::Path(),
                        problems);
  return problems.count() > 0 ? std::nullopt : loop;
}

std::optional<config::ArrivalClient> ClientOf(
    const DistributedSystemDescription& test, const std::string& service,
    const std::string& instance) {
  for (const ServiceSpec& spec : test.services()) {
    if (spec.name() != service || spec.count() > kMostComparedIntervals) {
      continue;
    }
    const std::vector<std::string> names = config::InstanceNames(spec);
    const auto found = std::find(names.begin(), names.end(), instance);
    if (found == names.end()) continue;
    return config::ArrivalClient{static_cast<int>(found - names.begin()),
                                 static_cast<int>(names.size())};
  }
  return std::nullopt;
}

// The intervals that are compared: all but the first and the last, which are
// incomplete.
struct Compared {
  int64_t first = 0;  // index
  int64_t interval_ns = 0;
  std::vector<double> sent;
  // Arrivals that are surely in the interval, and all that may be.
  std::vector<double> least;
  std::vector<double> most;

  explicit Compared(const RpcTimeSeries& series)
      : interval_ns(series.interval_ns()),
        sent(SentPerInterval(series, kMostComparedIntervals)),
        least(sent.size()),
        most(sent.size()) {
    if (!sent.empty()) first = series.intervals(0).index() + 1;
  }

  void AddTo(std::vector<double>& counts, int64_t index, double count) const {
    const int64_t position = base::SaturatingSubtract(index, first);
    if (position < 0 || position >= std::ssize(counts)) return;
    counts[position] += count;
  }

  void AddArrival(int64_t unix_ns) {
    const int64_t index = unix_ns / interval_ns;
    const double place = static_cast<double>(unix_ns % interval_ns) /
                         static_cast<double>(interval_ns);
    AddTo(most, index, 1);
    if (place < kBlurredShare) {
      AddTo(most, index - 1, 1);
    } else if (place > 1 - kBlurredShare) {
      AddTo(most, index + 1, 1);
    } else {
      AddTo(least, index, 1);
    }
  }

  int64_t end_ns() const {
    return base::SaturatingMultiply(first + std::ssize(sent) + 1, interval_ns);
  }
};

// Draws the arrivals of the compared intervals. Returns false if that takes too
// long.
bool DrawArrivals(const SendingLoop& loop, uint64_t test_seed,
                  config::ArrivalClient client, int64_t start_ns,
                  int64_t& budget, Compared& compared) {
  const Iterations& iterations = loop.action->iterations();
  const config::ArrivalPlan plan =
      config::CompileArrivals(iterations.arrivals());
  config::ArrivalStream stream(
      plan, static_cast<double>(iterations.open_loop_interval_ns()),
      {.seed = config::ArrivalSeed(test_seed, loop.list, loop.position, 0),
       .client = client});
  int64_t last_ns = compared.end_ns();
  if (iterations.has_max_duration_us()) {
    last_ns = std::min(
        last_ns,
        base::SaturatingAdd(start_ns, base::SaturatingMultiply(
                                          1000, iterations.max_duration_us())));
  }
  const double length_ns = static_cast<double>(last_ns - start_ns);
  while (stream.time_ns() <= length_ns) {
    budget -= stream.found() ? 1 : kCostOfSearch;
    if (budget < 0) return false;
    if (!stream.found()) {
      stream.Search();
      continue;
    }
    compared.AddArrival(start_ns + std::llround(stream.time_ns()));
    stream.Advance();
  }
  return true;
}

void JudgeCounts(const std::string& what, const Compared& compared,
                 FindingList& findings) {
  double sent = 0;
  double due = 0;
  for (size_t i = 0; i < compared.sent.size(); ++i) {
    sent += compared.sent[i];
    due += (compared.least[i] + compared.most[i]) / 2;
  }
  const double count = static_cast<double>(compared.sent.size());
  if (due < kFewestArrivals * count) return;
  const double fanout = std::max(1.0, std::round(sent / due));
  double squares = 0;
  for (size_t i = 0; i < compared.sent.size(); ++i) {
    const double nearest =
        std::clamp(compared.sent[i], fanout * compared.least[i],
                   fanout * compared.most[i]);
    squares += (compared.sent[i] - nearest) * (compared.sent[i] - nearest);
  }
  const double deviation = std::sqrt(squares / count) / (fanout * due / count);
  if (deviation < kMuchDeviation) return;
  findings.Add(
      Finding::WARN, "arrivals",
      absl::StrCat(what,
                   " should have followed its arrival process, but sends per "
                   "interval differ from it by ",
                   base::HumanPercent(deviation),
                   " of their mean (root mean square over ",
                   compared.sent.size(), " ", Intervals(compared.interval_ns),
                   "). Queues, and so latencies, depend on it"),
      std::string(kArrivalsAdvice));
}

}  // namespace

void JudgeComposedArrivals(const JudgedRun& run, FindingList& findings) {
  const TestResult& result = run.result;
  const DistributedSystemDescription& test = result.traffic_config();
  int64_t budget = kMostDrawn;
  for (const auto& [instance, log] : result.service_logs().instance_logs()) {
    const int64_t start_ns = log.traffic_start_timestamp_ns();
    if (start_ns <= 0) continue;
    const std::string service = config::ServiceOf(instance);
    const auto client = ClientOf(test, service, instance);
    if (!client) continue;
    for (const auto& [rpc_index, series] : log.rpc_time_series()) {
      if (series.interval_ns() <= 0 || IsHeldBack(run.LoadOf(rpc_index))) {
        continue;
      }
      const std::string rpc = run.NameOf(rpc_index);
      const auto loop = DrawableLoopOf(test, service, rpc);
      if (!loop) continue;
      Compared compared(series);
      if (std::ssize(compared.sent) < kFewestComparedIntervals) continue;
      if (!DrawArrivals(*loop, test.random_seed(), *client, start_ns, budget,
                        compared)) {
        return;
      }
      JudgeCounts(absl::StrCat(rpc, " of ", instance), compared, findings);
    }
  }
}

}  // namespace distbench::report
