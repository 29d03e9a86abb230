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
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/objectives/judge_attempts_and_streams.h"
#include "distbench/results/walk.h"
#include "distbench/stats/distributions.h"
#include "distbench/stats/ratio_error.h"

namespace distbench::report {
namespace {

// The number of intervals that reports show; blocks are made of fewer.
constexpr int64_t kMaxIntervals = 1000;

// The standard error of the logarithm of the value.
double LogError(int64_t value, const stats::QuantileInterval& interval) {
  if (!interval.lower || !interval.upper || *interval.lower <= 0 ||
      value <= 0) {
    return kUnknownError;
  }
  return std::log(static_cast<double>(*interval.upper) / *interval.lower) /
         (2 * kErrorsPerInterval);
}

std::optional<double> ToBound(const std::optional<int64_t>& value_ns) {
  if (!value_ns) return std::nullopt;
  return *value_ns == stats::Outcomes::kFailed
             ? std::numeric_limits<double>::infinity()
             : static_cast<double>(*value_ns);
}

Judgement JudgePercentile(const config::Objective& objective, double quantile,
                          const stats::Outcomes& outcomes,
                          const std::vector<stats::Outcomes>& blocks) {
  const int64_t value_ns = outcomes.ValueAtQuantile(quantile);
  const stats::QuantileInterval interval =
      stats::IntervalOfQuantile(outcomes, blocks, quantile, kReportConfidence);
  const Excess excess = value_ns == stats::Outcomes::kFailed
                            ? CertainMiss(objective).excess
                            : ExcessOf(objective, static_cast<double>(value_ns),
                                       LogError(value_ns, interval));
  return {.excess = excess,
          .lower = ToBound(interval.lower),
          .upper = ToBound(interval.upper)};
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

Judgement JudgeLatency(const config::Objective& objective,
                       const stats::Metric& metric,
                       const stats::Outcomes& outcomes,
                       const std::vector<stats::Outcomes>& blocks,
                       double allowed_failures) {
  if (metric.kind == stats::Metric::Kind::kPercentile) {
    return JudgePercentile(objective, metric.percent / 100, outcomes, blocks);
  }
  if (outcomes.latency_ns.count() == 0 ||
      outcomes.failed_share() > allowed_failures) {
    return CertainMiss(objective);
  }
  return JudgeValue(objective, outcomes.latency_ns.mean(),
                    ErrorOfMean(outcomes.latency_ns, blocks));
}

// Without blocks, the error of a latency that succeeded is only assumed.
Excess WithUnknownError(Excess excess,
                        const std::vector<stats::Outcomes>& blocks) {
  if (blocks.empty() && std::isfinite(excess.estimate)) {
    excess.error = std::max(excess.error, kUnknownError);
  }
  return excess;
}

// Returns ", 3.1% failed", or "" if none failed.
std::string LeftOutText(const stats::Outcomes& outcomes) {
  if (outcomes.failed_count == 0) return "";
  return absl::StrFormat(", %.3g%% failed", 100 * outcomes.failed_share());
}

std::string LatencyText(const stats::Metric& metric,
                        const stats::Outcomes& outcomes) {
  const bool is_mean = metric.kind == stats::Metric::Kind::kMean;
  const int64_t value_ns =
      is_mean ? 0 : outcomes.ValueAtQuantile(metric.percent / 100);
  if (value_ns == stats::Outcomes::kFailed ||
      outcomes.latency_ns.count() == 0) {
    return absl::StrFormat("%s failed (%.3g%% of the RPCs failed)",
                           stats::MetricName(metric),
                           100 * outcomes.failed_share());
  }
  const double ns =
      is_mean ? outcomes.latency_ns.mean() : static_cast<double>(value_ns);
  return absl::StrFormat("%s %.3f ms%s", stats::MetricName(metric), ns / 1e6,
                         LeftOutText(outcomes));
}

Judgement JudgeRate(const config::Objective& objective,
                    const stats::Outcomes& outcomes, double rate,
                    double allowed_failures) {
  if (outcomes.failed_share() > allowed_failures) {
    return CertainMiss(objective);
  }
  const double count = static_cast<double>(outcomes.latency_ns.count());
  return JudgeValue(objective, rate, 1 / std::sqrt(count + 1));
}

Judgement JudgeFailures(const config::Objective& objective,
                        const stats::Outcomes& outcomes,
                        const std::vector<stats::Outcomes>& blocks) {
  std::vector<stats::BlockAmount> failures;
  for (const stats::Outcomes& block : blocks) {
    failures.push_back({static_cast<double>(block.failed_count),
                        static_cast<double>(block.count())});
  }
  return JudgeShare(objective, static_cast<double>(outcomes.failed_count),
                    static_cast<double>(outcomes.count()), failures);
}

absl::StatusOr<ObjectiveOutcome> JudgeRpc(const config::Objective& objective,
                                          const stats::Metric& metric,
                                          const TestTotals& totals,
                                          const RpcMeasurements& rpc,
                                          double allowed_failures) {
  if (IsOfAttempts(metric)) return JudgeAttempts(objective, metric, rpc);
  const stats::Outcomes& outcomes = rpc.latency();
  if (outcomes.count() == 0) {
    return absl::NotFoundError(
        absl::StrCat("no RPC \"", rpc.name, "\" ended in the measured time"));
  }
  if (metric.kind == stats::Metric::Kind::kFailures) {
    return OutcomeOf(
        JudgeFailures(objective, outcomes, LatencyBlocks(rpc)),
        absl::StrFormat("failures %.3g%%", 100 * outcomes.failed_share()));
  }
  if (metric.kind == stats::Metric::Kind::kRate) {
    const double rate =
        PerSecond(static_cast<double>(rpc.totals.counts.succeeded_count),
                  totals.duration_ns);
    return OutcomeOf(
        JudgeRate(objective, outcomes, rate, allowed_failures),
        absl::StrFormat("rate %.6g%s", rate, LeftOutText(outcomes)));
  }
  const std::vector<stats::Outcomes> blocks = LatencyBlocks(rpc);
  ObjectiveOutcome outcome = OutcomeOf(
      JudgeLatency(objective, metric, outcomes, blocks, allowed_failures),
      LatencyText(metric, outcomes));
  outcome.excess = WithUnknownError(outcome.excess, blocks);
  outcome.has_grown = HasGrown(blocks);
  if (rpc.service_time.count() > 0) {
    outcome.service_excess = JudgeLatency(objective, metric, rpc.service_time,
                                          ServiceBlocks(rpc), allowed_failures)
                                 .excess;
  }
  return outcome;
}

// The mean share of a host's CPU time that was busy.
std::optional<double> BusyShare(const NodeResources& node) {
  // All CPUs of the host, even if the node manager may use only some of them.
  const int cpu_count =
      std::max({node.host().online_cpu_count(), node.host().cpu_count(), 1});
  double busy_ns = 0;
  double available_ns = 0;
  for (const ResourceSample& sample : node.samples()) {
    busy_ns += static_cast<double>(sample.host_cpu_ns());
    available_ns += static_cast<double>(sample.duration_ns()) * cpu_count;
  }
  if (available_ns == 0) return std::nullopt;
  return busy_ns / available_ns;
}

absl::StatusOr<ObjectiveOutcome> JudgeCpu(const config::Objective& objective,
                                          const TestResult& result) {
  const std::optional<double> busiest = HostCpuShare(result);
  int64_t sample_count = 0;
  for (const auto& [alias, node] :
       result.resource_usage_logs().node_resources()) {
    sample_count = std::max<int64_t>(sample_count, node.samples_size());
  }
  if (!busiest) {
    return absl::NotFoundError("the nodes have not recorded their CPU usage");
  }
  // Assumes that seconds differ by 5 %.
  return OutcomeOf(
      JudgeValue(objective, *busiest,
                 0.05 / std::sqrt(static_cast<double>(sample_count))),
      absl::StrFormat("cpu %.1f%%", 100 * *busiest));
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
    return JudgeCpu(objective, result);
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
  return JudgeRpc(objective, std::get<stats::Metric>(objective.metric), totals,
                  measurements, allowed_failures);
}

std::optional<double> HostCpuShare(const TestResult& result) {
  std::optional<double> busiest;
  for (const auto& [alias, node] :
       result.resource_usage_logs().node_resources()) {
    const std::optional<double> share = BusyShare(node);
    if (share) busiest = std::max(busiest.value_or(0), *share);
  }
  return busiest;
}

namespace {

// How many times the variance of the share exceeds that of independent
// requests: the design effect of L. Kish, Survey Sampling, Wiley 1965, section
// 8.2. At least 1.
double DesignEffect(double share, double count,
                    absl::Span<const stats::BlockAmount> blocks) {
  if (blocks.size() < 2 || share == 0 || share == 1) return 1;
  const double independent = share * (1 - share) / count;
  return std::max(1.0, std::pow(stats::ErrorOfRatio(blocks), 2) / independent);
}

}  // namespace

Excess ExcessOf(const config::Objective& objective, double measured,
                double error) {
  const double log_ratio = std::log(
      std::max(measured, std::numeric_limits<double>::min()) / objective.limit);
  return {.estimate = objective.is_upper_limit ? log_ratio : -log_ratio,
          .error = error};
}

Judgement JudgeValue(const config::Objective& objective, double value,
                     double error) {
  const double factor = std::exp(kErrorsPerInterval * error);
  return {.excess = ExcessOf(objective, value, error),
          .lower = value / factor,
          .upper = value * factor};
}

Judgement CertainMiss(const config::Objective& objective) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double bound = objective.is_upper_limit ? infinity : 0;
  return {.excess = {.estimate = infinity, .error = 0},
          .lower = bound,
          .upper = bound};
}

Judgement JudgeShare(const config::Objective& objective, double amount,
                     double count,
                     absl::Span<const stats::BlockAmount> blocks) {
  const double share = count > 0 ? amount / count : 0;
  const double effect = DesignEffect(share, count, blocks);
  amount /= effect;
  count /= effect;
  const double square = kErrorsPerInterval * kErrorsPerInterval;
  const double center = (amount + square / 2) / (count + square);
  const double half_width = kErrorsPerInterval / (count + square) *
                            std::sqrt(amount * (1 - share) + square / 4);
  return {.excess = ExcessOf(objective, share, 1 / std::sqrt(amount + 1)),
          .lower = std::max(0.0, center - half_width),
          .upper = center + half_width};
}

double RelativeErrorOf(absl::Span<const stats::BlockAmount> blocks,
                       double ratio) {
  const double errors_to_bound = stats::StudentTQuantile(
      (1 + kReportConfidence) / 2, static_cast<double>(blocks.size()) - 1);
  return stats::ErrorOfRatio(blocks) / ratio * errors_to_bound /
         kErrorsPerInterval;
}

ObjectiveOutcome OutcomeOf(const Judgement& judgement, std::string measured) {
  return {.excess = judgement.excess,
          .lower = judgement.lower,
          .upper = judgement.upper,
          .service_excess = judgement.excess,
          .measured = std::move(measured)};
}

namespace {

constexpr double kBeyondChance = 3;

struct Half {
  double mean;
  double square_error;  // of the mean
};

// Requires at least two values.
Half Summarize(absl::Span<const double> values) {
  const double count = static_cast<double>(values.size());
  double mean = 0;
  for (const double value : values) mean += value / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {.mean = mean, .square_error = squares / (count - 1) / count};
}

}  // namespace

bool HasGrown(absl::Span<const stats::Outcomes> blocks) {
  std::vector<double> means;
  for (const stats::Outcomes& block : blocks) {
    if (block.latency_ns.count() > 0) means.push_back(block.latency_ns.mean());
  }
  if (means.size() < kFewestForGrowth) return false;
  const absl::Span<const double> all = means;
  const size_t middle = means.size() / 2;
  const Half early = Summarize(all.first(middle));
  const Half late = Summarize(all.subspan(middle));
  return late.mean - early.mean >
         kBeyondChance * std::sqrt(early.square_error + late.square_error);
}

}  // namespace distbench::report
