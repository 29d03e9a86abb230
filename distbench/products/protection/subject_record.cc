// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/subject_record.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/base/hosts.h"
#include "distbench/base/time_units.h"
#include "distbench/config/plan/test_names.h"
#include "distbench/products/protection/cell_config.h"
#include "distbench/products/protection/experiment/services.h"
#include "distbench/products/protection/stability.h"
#include "distbench/report/measurements/rpc_series.h"
#include "distbench/results/run_failure.h"

namespace distbench::protection {
namespace {

constexpr double kMedian = 0.5;

// For a slope with an error.
constexpr size_t kFewestIntervals = 3;

StabilityInterval IntervalOf(const report::IntervalTotals& totals,
                             double seconds) {
  // Only open loops have response times.
  const stats::LogHistogram& latency = totals.response_time_ns.count() > 0
                                           ? totals.response_time_ns
                                           : totals.service_time_ns;
  StabilityInterval interval;
  interval.throughput = static_cast<double>(totals.succeeded) / seconds;
  if (latency.count() > 0) {
    interval.latency_ns = static_cast<double>(latency.ValueAtQuantile(kMedian));
  }
  return interval;
}

// The whole intervals from start_ns to end_ns. Those in which nothing happened
// are absent from the series, but not from the record.
std::vector<StabilityInterval> RecordBetween(const report::RpcSeries& series,
                                             int64_t start_ns, int64_t end_ns) {
  const int64_t width_ns = series.interval_ns;
  const double seconds = base::ToSeconds(width_ns);
  const report::IntervalTotals silence;
  std::vector<StabilityInterval> record;
  const int64_t first = (start_ns + width_ns - 1) / width_ns;
  for (int64_t index = first; index < end_ns / width_ns; ++index) {
    const auto found = series.intervals.find(index);
    record.push_back(IntervalOf(
        found == series.intervals.end() ? silence : found->second, seconds));
  }
  return record;
}

Stability StabilityOf(const ExperimentPlan& plan, const TestResult& result) {
  const ExperimentCell& cell = result.experiment_cell();
  const int rpc = config::NameIndex(result.traffic_config().rpc_descriptions())
                      .Find(plan.rpc);
  const report::RpcSeries series = rpc == config::kNone
                                       ? report::RpcSeries()
                                       : report::CollectSeries(result, rpc);
  if (series.interval_ns <= 0) {
    return {.description = "no request of the subject was recorded"};
  }
  const std::vector<StabilityInterval> record =
      RecordBetween(series, result.run_info().start_timestamp_ns(),
                    cell.baseline_start_timestamp_ns());
  const double interval_seconds = base::ToSeconds(series.interval_ns);
  const double asked =
      absl::ToDoubleSeconds(plan.phases.flat_over) / interval_seconds;
  // A phase that is just long enough lacks the seconds that its ends cut.
  const double given = std::min(asked, static_cast<double>(record.size()));
  const FlatnessRule rule = {
      .within_percent = plan.phases.flat_within_percent,
      .intervals = std::max(kFewestIntervals, static_cast<size_t>(given))};
  Stability stability = JudgeStability(record, interval_seconds, rule);
  if (stability.is_stable) {
    stability.description =
        absl::StrFormat("still since %g s after the start: %s",
                        interval_seconds * static_cast<double>(stability.since),
                        stability.description);
  }
  return stability;
}

}  // namespace

void LabelResult(const ExperimentPlan& plan, const ExperimentCell& cell,
                 absl::Duration stabilise, TestResult& result) {
  ExperimentCell& label = *result.mutable_experiment_cell();
  label = cell;
  result.mutable_run_info()->set_repetition(cell.repetition());
  if (!result.run_info().has_start_timestamp_ns()) return;
  const int64_t start_ns = result.run_info().start_timestamp_ns();
  const CellTimes times = TimesOf(plan, cell, stabilise);
  const auto at = [&](absl::Duration offset) {
    return start_ns + absl::ToInt64Nanoseconds(offset);
  };
  label.set_baseline_start_timestamp_ns(at(times.baseline));
  label.set_interfere_start_timestamp_ns(at(times.interfere));
  label.set_recover_start_timestamp_ns(at(times.recover));
  label.set_end_timestamp_ns(at(times.end));
  if (cell.purpose() == kAntagonistAlone) return;
  const Stability stability = StabilityOf(plan, result);
  label.set_is_stable(stability.is_stable);
  label.set_stability(stability.description);
}

std::string WhyUnusable(const TestResult& result) {
  const RunInfo& info = result.run_info();
  const std::optional<std::string> failure = results::FailureOf(result);
  if (!failure) return "";
  if (!info.has_start_timestamp_ns()) return *failure;
  if (info.end_timestamp_ns() >=
      result.experiment_cell().interfere_start_timestamp_ns()) {
    return "";
  }
  return absl::StrCat("it ended before the antagonist began: ", *failure);
}

absl::Duration StabiliseTimeOf(const TestResult& result) {
  return absl::Nanoseconds(
      result.experiment_cell().baseline_start_timestamp_ns() -
      result.run_info().start_timestamp_ns());
}

namespace {

// Nodes that share CPUs: those of a host, by its number, that may use the same
// ones.
using CpuGroup = std::pair<int, std::string>;

}  // namespace

int WorkersOfSubject(const DistributedSystemDescription& test,
                     const GetStatusResponse& status) {
  std::map<std::string, int> instances_on;  // by node
  for (const auto& [instance, node] : NodesOfInstances(test)) {
    ++instances_on[node];
  }
  base::HostNumbers hosts;
  std::map<CpuGroup, int> cpus;
  std::map<CpuGroup, int> instances;
  for (const NodeStatus& node : status.nodes()) {
    const NodeRegistration& registration = node.registration();
    const CpuGroup group = {
        hosts.Of(registration.hostname(), registration.boot_id()),
        registration.topology().allowed_cpus()};
    cpus[group] = std::max(cpus[group], node.registration().cpu_count());
    const auto found = instances_on.find(node.config().node_alias());
    if (found != instances_on.end()) instances[group] += found->second;
  }
  int fewest = std::numeric_limits<int>::max();
  for (const auto& [group, count] : instances) {
    fewest = std::min(fewest, cpus[group] / count);
  }
  // Without nodes, the test will not run.
  return instances.empty() ? 1 : std::max(1, fewest);
}

}  // namespace distbench::protection
