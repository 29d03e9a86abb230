// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/measures/cell.h"

#include <algorithm>
#include <utility>

#include "absl/functional/function_ref.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/stats/run_interval.h"

namespace distbench::protection {
namespace {

constexpr double kLowIsolation = 0.05;

void ForEachMeasured(const ProtectionCell& cell,
                     absl::FunctionRef<void(const ProtectionRun&)> visit) {
  for (const ProtectionRun& run : cell.runs) {
    if (run.problem.empty()) visit(run);
  }
}

void ForEachSecondOfInterference(
    const ProtectionRun& run,
    absl::FunctionRef<void(const ProtectionSecond&)> visit) {
  for (const ProtectionSecond& second : run.seconds) {
    if (second.phase == ProtectionPhase::kInterference) visit(second);
  }
}

// The interval within what the measure can be.
std::optional<stats::Interval> Within(std::optional<stats::Interval> interval,
                                      double lowest, double highest) {
  if (interval) {
    interval->lower = std::max(interval->lower, lowest);
    interval->upper = std::min(interval->upper, highest);
  }
  return interval;
}

// The mean over the runs, whose spread tells how well it is known.
Estimate EstimateOverRuns(const std::vector<double>& runs, double lowest,
                          double highest) {
  return {stats::Mean(runs),
          Within(stats::IntervalOfMean(runs, report::kReportConfidence), lowest,
                 highest)};
}

void MeasureIsolation(ProtectionCell& cell) {
  std::vector<double> all;
  std::vector<double> means;
  std::vector<double> lows;
  ForEachMeasured(cell, [&](const ProtectionRun& run) {
    const std::vector<double> seconds = IsolationOf(run);
    if (seconds.empty()) return;
    all.insert(all.end(), seconds.begin(), seconds.end());
    const ValueDistribution isolation(seconds);
    means.push_back(isolation.mean().value_or(0));
    lows.push_back(isolation.AtQuantile(kLowIsolation));
  });
  if (all.empty()) return;
  cell.isolation = ValueDistribution(std::move(all));
  cell.mean_isolation = EstimateOverRuns(means, 0, 1);
  cell.p05_isolation = EstimateOverRuns(lows, 0, 1);
}

void MeasureImpact(ProtectionCell& cell) {
  for (size_t i = 0; i < kImpactQuantiles.size(); ++i) {
    std::vector<double> all;
    ForEachMeasured(cell, [&](const ProtectionRun& run) {
      const std::vector<double> values = ImpactOf(run, i);
      all.insert(all.end(), values.begin(), values.end());
    });
    cell.impact[i] = ValueDistribution(std::move(all));
  }
  std::vector<double> means;
  ForEachMeasured(cell, [&](const ProtectionRun& run) {
    const auto run_mean = ValueDistribution(ImpactOf(run, kMainImpact)).mean();
    if (run_mean) means.push_back(*run_mean);
  });
  if (means.empty()) return;
  cell.mean_impact = EstimateOverRuns(means, 0, ValueDistribution::kInfinite);
}

void MeasureLosses(ProtectionCell& cell) {
  double missing = 0;
  double failed = 0;
  double count = 0;
  ForEachMeasured(cell, [&](const ProtectionRun& run) {
    ForEachSecondOfInterference(run, [&](const ProtectionSecond& second) {
      ++count;
      missing += second.state == SecondState::kMissing;
      failed += second.state == SecondState::kFailed;
    });
  });
  if (count == 0) return;
  cell.missing_share = missing / count;
  cell.failed_share = failed / count;
}

FileLatencies FileLatenciesOf(const ProtectionCell& cell, WorkRole role) {
  NestedLatencyList reads;
  NestedLatencyList writes;
  ForEachMeasured(cell, [&](const ProtectionRun& run) {
    const auto phases = PhasesOf(run.result->experiment_cell());
    if (!phases.ok()) return;
    const WorkSeries series = CollectWork(*run.result, role);
    reads.Add(series, phases->interference, &WorkTotals::read_ns);
    writes.Add(series, phases->interference, &WorkTotals::write_ns);
  });
  return {.reads = reads.Distributions(), .writes = writes.Distributions()};
}

}  // namespace

void MeasureCell(ProtectionCell& cell) {
  MeasureIsolation(cell);
  MeasureImpact(cell);
  MeasureLosses(cell);
  cell.subject_files = FileLatenciesOf(cell, WorkRole::kSubject);
  cell.antagonist_files = FileLatenciesOf(cell, WorkRole::kAntagonist);
}

size_t MeasuredRunCount(const ProtectionCell& cell) {
  size_t count = 0;
  ForEachMeasured(cell, [&](const ProtectionRun&) { ++count; });
  return count;
}

std::vector<double> GoodputOf(const ProtectionCell& cell) {
  std::vector<double> goodput;
  ForEachMeasured(cell, [&](const ProtectionRun& run) {
    ForEachSecondOfInterference(run, [&](const ProtectionSecond& second) {
      goodput.push_back(second.goodput_per_second);
    });
  });
  return goodput;
}

std::optional<WorkRate> MeanAntagonistRate(
    absl::Span<const TestResult* const> results) {
  WorkRate sum;
  double count = 0;
  for (const TestResult* result : results) {
    const auto phases = WorkingPhasesOf(*result);
    if (!phases.ok() || LostAntagonist(*result)) continue;
    const auto rate = MeanRate(CollectWork(*result, WorkRole::kAntagonist),
                               phases->interference);
    if (!rate) continue;
    ++count;
    sum.offered += rate->offered;
    sum.completed += rate->completed;
    sum.bytes += rate->bytes;
    sum.message_bytes += rate->message_bytes;
  }
  if (count == 0) return std::nullopt;
  return WorkRate{.offered = sum.offered / count,
                  .completed = sum.completed / count,
                  .bytes = sum.bytes / count,
                  .message_bytes = sum.message_bytes / count};
}

std::optional<double> MedianRecovery(const ProtectionCell& cell) {
  std::vector<double> times;
  ForEachMeasured(cell, [&](const ProtectionRun& run) {
    if (!ShowsRecovery(run)) return;
    times.push_back(
        run.recovered_after_s.value_or(ValueDistribution::kInfinite));
  });
  if (times.empty()) return std::nullopt;
  std::sort(times.begin(), times.end());
  const size_t upper = times.size() / 2;
  const size_t lower = (times.size() - 1) / 2;
  return (times[lower] + times[upper]) / 2;
}

}  // namespace distbench::protection
