#include "distbench/search/judgement/judge_objective.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/walk.h"

namespace distbench {
namespace {

// Half the width of a normal distribution's 95 % interval, in standard errors.
constexpr double kErrorsPerInterval = 1.96;

// For an interval without an end: a quarter of the value in either direction.
constexpr double kUnknownError = 0.25;

// Enough intervals for the blocks, which combine several of them.
constexpr int64_t kMaxIntervals = 1000;

// Positive values missed.
Excess ExcessOf(const Objective& objective, double measured, double error) {
  const double log_ratio = std::log(
      std::max(measured, std::numeric_limits<double>::min()) / objective.limit);
  return {.estimate = objective.is_upper_limit ? log_ratio : -log_ratio,
          .error = error};
}

// The standard error of the value's logarithm.
double LogError(int64_t value, const QuantileInterval& interval) {
  if (!interval.lower || !interval.upper || *interval.lower <= 0 ||
      value <= 0) {
    return kUnknownError;
  }
  return std::log(static_cast<double>(*interval.upper) / *interval.lower) /
         (2 * kErrorsPerInterval);
}

double RelativeErrorOfMean(const LogHistogram& latency) {
  const double count = static_cast<double>(latency.count());
  const double mean = latency.mean();
  const double variance =
      std::max(0.0, latency.sum_of_squares() / count - mean * mean);
  return std::sqrt(variance / count) / std::max(mean, 1.0);
}

Excess JudgeLatency(const Objective& objective, const Metric& metric,
                    const LogHistogram& latency,
                    const std::vector<LogHistogram>& blocks,
                    double& measured_ns) {
  if (metric.kind == Metric::Kind::kMean) {
    measured_ns = latency.mean();
    return ExcessOf(objective, measured_ns, RelativeErrorOfMean(latency));
  }
  const double quantile = metric.percent / 100;
  const int64_t value_ns = latency.ValueAtQuantile(quantile);
  measured_ns = static_cast<double>(value_ns);
  return ExcessOf(
      objective, measured_ns,
      LogError(value_ns, IntervalOfQuantile(latency, blocks, quantile,
                                            kReportConfidence)));
}

absl::StatusOr<ObjectiveOutcome> JudgeRpc(const Objective& objective,
                                          const Metric& metric,
                                          const TestTotals& totals,
                                          const RpcMeasurements& rpc) {
  const RpcCounts& counts = rpc.totals.counts;
  const double ended =
      static_cast<double>(counts.succeeded_count + counts.failed_count);
  if (ended == 0) {
    return absl::NotFoundError(
        absl::StrCat("no RPC \"", rpc.name, "\" ended in the measured time"));
  }
  ObjectiveOutcome outcome;
  if (metric.kind == Metric::Kind::kFailures) {
    const double share = counts.failed_count / ended;
    outcome.excess =
        ExcessOf(objective, share, 1 / std::sqrt(counts.failed_count + 1.0));
    outcome.measured = absl::StrFormat("failures %.3g%%", 100 * share);
  } else if (metric.kind == Metric::Kind::kRate) {
    const double rate = PerSecond(counts.succeeded_count, totals.duration_ns);
    outcome.excess =
        ExcessOf(objective, rate, 1 / std::sqrt(counts.succeeded_count + 1.0));
    outcome.measured = absl::StrFormat("rate %.6g", rate);
  } else {
    double measured_ns = 0;
    outcome.service_excess =
        JudgeLatency(objective, metric, rpc.totals.service_time_ns,
                     ServiceTimeBlocks(rpc.series), measured_ns);
    outcome.excess = outcome.service_excess;
    if (rpc.response_time_ns.count() > 0) {
      outcome.excess =
          JudgeLatency(objective, metric, rpc.response_time_ns,
                       ResponseTimeBlocks(rpc.series), measured_ns);
    }
    outcome.measured =
        absl::StrFormat("%s %.3f ms", MetricName(metric), measured_ns / 1e6);
    return outcome;
  }
  outcome.service_excess = outcome.excess;
  return outcome;
}

// The mean share of a host's CPUs that were busy.
std::optional<double> BusyShare(const NodeResources& node) {
  // All CPUs of the host, even those that the node manager may not use.
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

absl::StatusOr<ObjectiveOutcome> JudgeCpu(const Objective& objective,
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
  ObjectiveOutcome outcome;
  // Seconds differ by a few percent.
  outcome.excess = ExcessOf(
      objective, *busiest, 0.05 / std::sqrt(static_cast<double>(sample_count)));
  outcome.service_excess = outcome.excess;
  outcome.measured = absl::StrFormat("cpu %.1f%%", 100 * *busiest);
  return outcome;
}

}  // namespace

absl::StatusOr<int> FindRpc(const Objective& objective,
                            const TestResult& result) {
  std::vector<std::string> names;
  const std::vector<int> rpcs = ListRpcs(result);
  if (objective.rpc.empty() && rpcs.size() == 1) return rpcs[0];
  for (const int rpc : rpcs) {
    names.push_back(RpcName(result, rpc));
    if (names.back() == objective.rpc) return rpc;
  }
  return absl::NotFoundError(absl::StrCat(
      "the objective \"", objective.text, "\" ",
      objective.rpc.empty()
          ? std::string("must name an RPC")
          : absl::StrCat("names no RPC of the test, \"", objective.rpc, "\""),
      "; the test has ", absl::StrJoin(names, ", ")));
}

absl::StatusOr<ObjectiveOutcome> Judge(const Objective& objective,
                                       const TestResult& result) {
  if (std::holds_alternative<HostCpu>(objective.metric)) {
    return JudgeCpu(objective, result);
  }
  const absl::StatusOr<int> rpc = FindRpc(objective, result);
  if (!rpc.ok()) return rpc.status();
  const TestTotals totals = AddUp(result);
  return JudgeRpc(objective, std::get<Metric>(objective.metric), totals,
                  MeasurementsOf(result, totals, *rpc, kMaxIntervals));
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

}  // namespace distbench
