#include "distbench/report/objectives/judge_objective.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/base/plugins.h"
#include "distbench/base/saturating_add.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/objectives/judge_attempts_and_streams.h"
#include "distbench/results/walk.h"
#include "distbench/stats/distributions.h"
#include "distbench/stats/ratio_error.h"
#include "distbench/stats/run_interval.h"
#include "distbench/stats/share_interval.h"

namespace distbench::report {
namespace {

// The number of intervals that reports show; blocks are made of fewer.
constexpr int64_t kMaxIntervals = 1000;

// The standard error of the logarithm of the value.
double LogError(int64_t value, const stats::QuantileInterval& interval) {
  if (!interval.lower || !interval.upper || *interval.lower <= 0 ||
      *interval.upper == stats::Outcomes::kFailed || value <= 0) {
    return kUnknownError;
  }
  return std::log(static_cast<double>(*interval.upper) / *interval.lower) /
         (2 * kErrorsPerInterval);
}

// Infinite if the request failed.
double ToNs(int64_t value_ns) {
  return value_ns == stats::Outcomes::kFailed
             ? std::numeric_limits<double>::infinity()
             : static_cast<double>(value_ns);
}

std::optional<double> ToBound(const std::optional<int64_t>& value_ns) {
  if (!value_ns) return std::nullopt;
  return ToNs(*value_ns);
}

// Returns the standard error relative to the mean. With blocks, it comes from
// their spread, because neighbouring latencies depend on each other.
double ErrorOfMean(const stats::LogHistogram& latency,
                   const std::vector<stats::Outcomes>& blocks) {
  const double count = static_cast<double>(latency.count());
  const double mean = std::max(latency.mean(), 1.0);
  const double variance =
      std::max(0.0, latency.sum_of_squares() / count - mean * mean);
  const double independent = std::sqrt(variance / count) / mean;
  std::vector<stats::BlockAmount> sums;
  for (const stats::Outcomes& block : blocks) {
    const double block_count = static_cast<double>(block.latency_ns.count());
    if (block_count > 0) sums.push_back({block.latency_ns.sum(), block_count});
  }
  if (sums.size() < 2) return independent;
  return std::max(independent, RelativeErrorOf(sums, mean));
}

// The intervals without warm-up, if they are enough for blocks of their own.
std::vector<stats::Outcomes> ShortBlocks(
    const RpcSeries& series, stats::LogHistogram IntervalTotals::*latency) {
  std::vector<stats::Outcomes> blocks;
  for (const auto& [index, totals] : series.intervals) {
    const stats::OutcomesView interval(totals.*latency, totals.failed);
    if (totals.warmup > 0 || interval.count() == 0) continue;
    blocks.emplace_back().Merge(interval);
  }
  if (blocks.size() < kFewestShortBlocks) blocks.clear();
  return blocks;
}

std::vector<stats::Outcomes> ServiceBlocks(const RpcMeasurements& rpc) {
  std::vector<stats::Outcomes> blocks = ServiceTimeBlocks(rpc.series);
  return blocks.empty()
             ? ShortBlocks(rpc.series, &IntervalTotals::service_time_ns)
             : blocks;
}

std::vector<stats::Outcomes> LatencyBlocks(const RpcMeasurements& rpc) {
  if (rpc.response_time.count() == 0) return ServiceBlocks(rpc);
  std::vector<stats::Outcomes> blocks = ResponseTimeBlocks(rpc.series);
  return blocks.empty()
             ? ShortBlocks(rpc.series, &IntervalTotals::response_time_ns)
             : blocks;
}

// Returns ", 3.1% failed", or "" if none failed.
std::string LeftOutText(const stats::Outcomes& outcomes) {
  if (outcomes.failed_count == 0) return "";
  return absl::StrFormat(", %.3g%% failed", 100 * outcomes.failed_share());
}

// Returns "p95 12.3 ms, 3.1% failed" or, if the time is infinite, "p95 failed
// (10% of the RPCs failed)". `values`: what has such times.
std::string TimeText(absl::string_view name, absl::string_view values,
                     double time_ns, const stats::Outcomes& outcomes) {
  if (std::isinf(time_ns)) {
    return absl::StrFormat("%s failed (%.3g%% of the %s failed)", name,
                           100 * outcomes.failed_share(), values);
  }
  return absl::StrFormat("%s %.3f ms%s", name, time_ns / 1e6,
                         LeftOutText(outcomes));
}

ObjectiveOutcome JudgeMean(const config::Objective& objective,
                           const stats::Outcomes& outcomes,
                           const std::vector<stats::Outcomes>& blocks,
                           double allowed_failures) {
  const stats::LogHistogram& latency_ns = outcomes.latency_ns;
  const bool is_known = latency_ns.count() > 0;
  std::string measured = TimeText(
      "mean", "RPCs",
      is_known ? latency_ns.mean() : ToNs(stats::Outcomes::kFailed), outcomes);
  if (!is_known || outcomes.failed_share() > allowed_failures) {
    return CertainMiss(objective, std::move(measured));
  }
  return JudgeValue(objective, latency_ns.mean(),
                    ErrorOfMean(latency_ns, blocks), std::move(measured));
}

ObjectiveOutcome JudgeLatency(const config::Objective& objective,
                              const stats::Metric& metric,
                              const stats::Outcomes& outcomes,
                              const std::vector<stats::Outcomes>& blocks,
                              double allowed_failures) {
  if (metric.kind == stats::Metric::Kind::kMean) {
    return JudgeMean(objective, outcomes, blocks, allowed_failures);
  }
  const double quantile = metric.percent / 100;
  return JudgePercentile(objective,
                         {.name = stats::MetricName(metric),
                          .values = "RPCs",
                          .outcomes = outcomes,
                          .value_ns = outcomes.ValueAtQuantile(quantile),
                          .interval = stats::IntervalOfQuantile(
                              outcomes, blocks, quantile, kReportConfidence)});
}

ObjectiveOutcome JudgeRate(const config::Objective& objective,
                           const stats::Metric& metric,
                           const RpcMeasurements& rpc,
                           double allowed_failures) {
  const stats::Outcomes& outcomes = rpc.latency();
  const results::RpcCounts& counts = rpc.totals.counts;
  const auto count = static_cast<double>(counts.succeeded_count);
  const double rate = PerSecond(count, counts.duration_ns());
  std::string measured =
      absl::StrFormat("rate %.6g%s", rate, LeftOutText(outcomes));
  if (outcomes.failed_share() > allowed_failures) {
    return CertainMiss(objective, std::move(measured));
  }
  return JudgePerSecond(objective, rpc,
                        {.metric = metric, .per_second = rate, .count = count},
                        std::move(measured));
}

ObjectiveOutcome JudgeFailures(const config::Objective& objective,
                               const stats::Outcomes& outcomes,
                               const std::vector<stats::Outcomes>& blocks) {
  std::vector<stats::BlockAmount> failures;
  for (const stats::Outcomes& block : blocks) {
    failures.push_back({static_cast<double>(block.failed_count),
                        static_cast<double>(block.count())});
  }
  return JudgeShare(
      objective, static_cast<double>(outcomes.failed_count),
      static_cast<double>(outcomes.count()), failures,
      absl::StrFormat("failures %.3g%%", 100 * outcomes.failed_share()));
}

absl::StatusOr<ObjectiveOutcome> JudgeRpc(const config::Objective& objective,
                                          const stats::Metric& metric,
                                          const RpcMeasurements& rpc,
                                          double allowed_failures) {
  if (IsOfAttempts(metric)) return JudgeAttempts(objective, metric, rpc);
  const stats::Outcomes& outcomes = rpc.latency();
  if (outcomes.count() == 0) {
    return absl::NotFoundError(
        absl::StrCat("no RPC \"", rpc.name, "\" ended in the measured time"));
  }
  if (metric.kind == stats::Metric::Kind::kFailures) {
    return JudgeFailures(objective, outcomes, LatencyBlocks(rpc));
  }
  if (metric.kind == stats::Metric::Kind::kRate) {
    return JudgeRate(objective, metric, rpc, allowed_failures);
  }
  const auto judge = [&](const stats::Outcomes& latency,
                         const std::vector<stats::Outcomes>& blocks) {
    ObjectiveOutcome outcome =
        JudgeLatency(objective, metric, latency, blocks, allowed_failures);
    return blocks.empty() ? OfIndependent(std::move(outcome)) : outcome;
  };
  const std::vector<stats::Outcomes> blocks = LatencyBlocks(rpc);
  ObjectiveOutcome outcome = judge(outcomes, blocks);
  outcome.has_grown = HasGrown(blocks);
  if (rpc.service_time.count() > 0) {
    outcome.service_excess = judge(rpc.service_time, ServiceBlocks(rpc)).excess;
  }
  return outcome;
}

// Whether most of the sample is of the time in which RPCs were measured.
bool IsMeasured(const ResourceSample& sample,
                const results::RpcCounts& measured) {
  const int64_t middle_ns = base::SaturatingSubtract(sample.end_timestamp_ns(),
                                                     sample.duration_ns() / 2);
  return middle_ns >= measured.first_start_timestamp_ns &&
         middle_ns <= measured.last_end_timestamp_ns;
}

// The CPU time of a host: how much of it was busy in each sample of the
// measured time or, if that has none, of all.
std::vector<stats::BlockAmount> BusyTimes(const NodeResources& node,
                                          const results::RpcCounts& measured) {
  // All CPUs of the host, even if the node manager may use only some of them.
  const int cpu_count =
      std::max({node.host().online_cpu_count(), node.host().cpu_count(), 1});
  const bool any_is_measured = std::any_of(
      node.samples().begin(), node.samples().end(),
      [&](const ResourceSample& each) { return IsMeasured(each, measured); });
  std::vector<stats::BlockAmount> times;
  for (const ResourceSample& sample : node.samples()) {
    if (sample.duration_ns() <= 0) continue;
    if (any_is_measured && !IsMeasured(sample, measured)) continue;
    times.push_back({static_cast<double>(sample.host_cpu_ns()),
                     static_cast<double>(sample.duration_ns()) * cpu_count});
  }
  return times;
}

// The mean share of a host's CPU time that was busy.
std::optional<double> BusyShare(const std::vector<stats::BlockAmount>& times) {
  if (times.empty()) return std::nullopt;
  const auto [busy, available] = stats::SumOf(times);
  return busy / available;
}

// The CPU time of the busiest host; empty if no node has recorded it.
std::vector<stats::BlockAmount> BusiestTimes(const TestResult& result,
                                             const TestTotals& totals) {
  std::vector<stats::BlockAmount> busiest;
  for (const auto& [alias, node] :
       result.resource_usage_logs().node_resources()) {
    std::vector<stats::BlockAmount> times = BusyTimes(node, totals.all);
    if (BusyShare(times) > BusyShare(busiest)) busiest = std::move(times);
  }
  return busiest;
}

// The seconds of the busiest host tell how well its share is known.
absl::StatusOr<ObjectiveOutcome> JudgeCpu(const config::Objective& objective,
                                          const TestResult& result,
                                          const TestTotals& totals) {
  const std::vector<stats::BlockAmount> busiest = BusiestTimes(result, totals);
  const std::optional<double> share = BusyShare(busiest);
  if (!share) {
    return absl::NotFoundError("the nodes have not recorded their CPU usage");
  }
  const double error = busiest.size() < kFewestShortBlocks || *share <= 0
                           ? kUnknownError
                           : RelativeErrorOf(busiest, *share);
  ObjectiveOutcome outcome = JudgeValue(
      objective, *share, error, absl::StrFormat("cpu %.1f%%", 100 * *share));
  outcome.is_of_independent = busiest.size() < stats::kMaxBlocks;
  // Clocks that differ may make it slightly more than all of the time.
  outcome.upper = std::min(*outcome.upper, std::max(1.0, *share));
  return outcome;
}

}  // namespace

absl::StatusOr<int> FindRpc(const config::Objective& objective,
                            const TestResult& result) {
  std::vector<std::string> names;
  const std::vector<int> rpcs = ListRpcs(result);
  if (objective.rpc.empty() && rpcs.size() == 1) return rpcs[0];
  for (const int rpc : rpcs) {
    names.push_back(results::RpcName(result, rpc));
    if (names.back() == objective.rpc) return rpc;
  }
  return absl::NotFoundError(absl::StrCat(
      "the objective \"", objective.text, "\" ",
      objective.rpc.empty()
          ? std::string("must say which RPC it applies to")
          : absl::StrCat("applies to \"", objective.rpc, "\", which is absent"),
      "; the test has ", absl::StrJoin(names, ", ")));
}

double AllowedFailures(const config::Objective& objective,
                       absl::Span<const config::Objective> objectives) {
  for (const config::Objective& other : objectives) {
    const auto* metric = std::get_if<stats::Metric>(&other.metric);
    if (metric != nullptr && metric->kind == stats::Metric::Kind::kFailures &&
        other.is_upper_limit && other.rpc == objective.rpc) {
      return other.limit;
    }
  }
  return stats::kAllowedFailures;
}

absl::StatusOr<ObjectiveOutcome> Judge(const config::Objective& objective,
                                       const TestResult& result,
                                       const TestTotals& totals,
                                       double allowed_failures) {
  if (std::holds_alternative<config::HostCpu>(objective.metric)) {
    return JudgeCpu(objective, result, totals);
  }
  for (const auto& [name, product] : base::Plugins<ObjectiveJudge>::All()) {
    if (product->judges(objective)) return product->judge(objective, result);
  }
  if (std::holds_alternative<config::Isolation>(objective.metric)) {
    return absl::NotFoundError(
        absl::StrCat("the objective \"", objective.text,
                     "\" cannot be judged: it is measured by a product that "
                     "this program was built without"));
  }
  const absl::StatusOr<int> rpc = FindRpc(objective, result);
  if (!rpc.ok()) return rpc.status();
  const RpcMeasurements measurements =
      MeasurementsOf(result, totals, *rpc, kMaxIntervals);
  const auto* time = std::get_if<config::PartTime>(&objective.metric);
  if (time != nullptr && time->IsOfStream()) {
    absl::StatusOr<ObjectiveOutcome> outcome =
        JudgeStreamTime(objective, measurements);
    if (outcome.ok()) {
      outcome->has_grown = HasGrown(LatencyBlocks(measurements));
    }
    return outcome;
  }
  if (time != nullptr) return JudgeAttemptTime(objective, measurements);
  return JudgeRpc(objective, std::get<stats::Metric>(objective.metric),
                  measurements, allowed_failures);
}

std::optional<double> HostCpuShare(const TestResult& result) {
  return BusyShare(BusiestTimes(result, AddUp(result)));
}

namespace {

Excess ExcessOf(const config::Objective& objective, double measured,
                double error) {
  const double log_ratio = std::log(
      std::max(measured, std::numeric_limits<double>::min()) / objective.limit);
  return {.estimate = objective.is_upper_limit ? log_ratio : -log_ratio,
          .error = error};
}

ObjectiveOutcome OutcomeOf(double value, const Excess& excess,
                           std::optional<double> lower,
                           std::optional<double> upper, std::string measured) {
  return {.excess = excess,
          .lower = lower,
          .upper = upper,
          .value = value,
          .service_excess = excess,
          .measured = std::move(measured)};
}

}  // namespace

ObjectiveOutcome OfIndependent(ObjectiveOutcome outcome) {
  outcome.is_of_independent = true;
  if (std::isfinite(outcome.excess.estimate)) {
    outcome.excess.error = std::max(outcome.excess.error, kUnknownError);
  }
  return outcome;
}

ObjectiveOutcome JudgeValue(const config::Objective& objective, double value,
                            double error, std::string measured) {
  const double factor = std::exp(kErrorsPerInterval * error);
  return OutcomeOf(value, ExcessOf(objective, value, error), value / factor,
                   value * factor, std::move(measured));
}

ObjectiveOutcome CertainMiss(const config::Objective& objective,
                             std::string measured) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double bound = objective.is_upper_limit ? infinity : 0;
  return OutcomeOf(bound, {.estimate = infinity, .error = 0}, bound, bound,
                   std::move(measured));
}

ObjectiveOutcome JudgePercentile(const config::Objective& objective,
                                 const JudgedPercentile& percentile) {
  const double value_ns = ToNs(percentile.value_ns);
  std::string measured = TimeText(percentile.name, percentile.values, value_ns,
                                  percentile.outcomes);
  const Excess excess =
      std::isinf(value_ns)
          ? CertainMiss(objective, "").excess
          : ExcessOf(objective, value_ns,
                     LogError(percentile.value_ns, percentile.interval));
  return OutcomeOf(value_ns, excess, ToBound(percentile.interval.lower),
                   ToBound(percentile.interval.upper), std::move(measured));
}

ObjectiveOutcome JudgeShare(const config::Objective& objective, double amount,
                            double count,
                            absl::Span<const stats::BlockAmount> blocks,
                            std::string measured) {
  const stats::CountedShare counted = {.amount = amount, .count = count};
  const stats::CountedShare effective =
      stats::EffectiveShare(counted, blocks, kReportConfidence);
  const stats::Interval interval =
      stats::IntervalOfShare(effective, (1 - kReportConfidence) / 2);
  ObjectiveOutcome outcome = OutcomeOf(
      counted.share(),
      ExcessOf(objective, counted.share(), 1 / std::sqrt(effective.amount + 1)),
      interval.lower, interval.upper, std::move(measured));
  outcome.is_of_independent = blocks.size() < 2;
  return outcome;
}

double RelativeErrorOf(absl::Span<const stats::BlockAmount> blocks,
                       double ratio) {
  return stats::HalfWidthOfRatio(blocks, kReportConfidence) / ratio /
         kErrorsPerInterval;
}

namespace {

// That a normal value lies within three standard errors.
constexpr double kBeyondChance = 0.9973;

// Whether the mean of the second half is above that of the first.
bool HasRisen(absl::Span<const double> values) {
  const size_t middle = values.size() / 2;
  const stats::Difference rise = stats::DifferenceOfMeans(
      values.first(middle), values.subspan(middle), kBeyondChance);
  return rise.interval->lower > 0;
}

// Whether the slope of the regression line is above 0.
bool Rises(absl::Span<const double> values) {
  const double size = static_cast<double>(values.size());
  const double mean = stats::Mean(values);
  double times = 0;     // squares of the distances from the middle
  double products = 0;  // of these distances and the values'
  double squares = 0;   // of the values' distances from their mean
  for (size_t i = 0; i < values.size(); ++i) {
    const double time = static_cast<double>(i) - (size - 1) / 2;
    times += time * time;
    products += time * (values[i] - mean);
    squares += (values[i] - mean) * (values[i] - mean);
  }
  const double slope = products / times;
  const double unexplained = std::max(0.0, squares - slope * products);
  const double error = std::sqrt(unexplained / (size - 2) / times);
  return slope >
         error * stats::StudentTQuantile((1 + kBeyondChance) / 2, size - 2);
}

}  // namespace

bool HasGrown(absl::Span<const stats::Outcomes> blocks) {
  std::vector<double> means;
  for (const stats::Outcomes& block : blocks) {
    if (block.latency_ns.count() > 0) means.push_back(block.latency_ns.mean());
  }
  return means.size() >= kFewestForGrowth && (HasRisen(means) || Rises(means));
}

}  // namespace distbench::report
