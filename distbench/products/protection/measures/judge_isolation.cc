// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/measures/judge_isolation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/products/protection/measures/cell.h"
#include "distbench/products/protection/measures/matrix.h"
#include "distbench/products/protection/measures/run.h"
#include "distbench/products/protection/measures/value_distribution.h"
#include "distbench/report/measurements/measure.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/objectives/objectives.h"
#include "distbench/stats/metric.h"
#include "distbench/stats/outcomes.h"
#include "distbench/stats/quantile_interval.h"
#include "distbench/stats/run_interval.h"

namespace distbench::protection {
namespace {

// A run of a search lasts minutes, not days.
constexpr int64_t kMostSeconds = 100'000;

// What a search may tell apart: a hundredth of a percent. Smaller shares have
// logarithms that say nothing.
constexpr double kSmallestShare = 1e-4;

report::Estimate PercentileOf(const std::vector<double>& sorted,
                              double quantile) {
  const auto count = static_cast<int64_t>(sorted.size());
  const stats::RankInterval ranks =
      stats::OrderStatisticRanks(count, quantile, report::kReportConfidence);
  report::Estimate estimate = {
      .value = ValueDistribution(sorted).AtQuantile(quantile)};
  if (ranks.lower >= 1) estimate.lower = sorted[ranks.lower - 1];
  if (ranks.upper <= count) estimate.upper = sorted[ranks.upper - 1];
  return estimate;
}

// Infinite if one of the seconds is: what nothing ended in was no better than
// anything measured.
report::Estimate MeanOf(const std::vector<double>& seconds) {
  const ValueDistribution all(seconds);
  if (all.infinite_count() > 0) {
    return {.value = ValueDistribution::kInfinite,
            .lower = ValueDistribution::kInfinite,
            .upper = ValueDistribution::kInfinite};
  }
  report::Estimate estimate = {.value = all.mean().value_or(0)};
  if (const auto interval =
          stats::IntervalOfMean(seconds, report::kReportConfidence)) {
    estimate.lower = interval->lower;
    estimate.upper = interval->upper;
  }
  return estimate;
}

// Half of the interval's width, in standard errors.
double ErrorOf(const report::Estimate& estimate) {
  if (std::isinf(estimate.value)) return 0;
  if (!estimate.lower || !estimate.upper || std::isinf(*estimate.upper)) {
    return report::kUnknownError;
  }
  return std::log(std::max(*estimate.upper, kSmallestShare) /
                  std::max(*estimate.lower, kSmallestShare)) /
         (2 * report::kErrorsPerInterval);
}

std::string TextOf(const config::Objective& objective, double value) {
  const absl::string_view name =
      absl::string_view(objective.text)
          .substr(0, objective.text.find_first_of(" <>"));
  if (std::isinf(value)) {
    return absl::StrCat(name, " infinite (nothing ended in some seconds)");
  }
  return absl::StrFormat("%s %.4g %%", name, 100 * value);
}

// What a reader of the measurement has to know; empty if nothing.
std::string Doubts(const ProtectionRun& run) {
  ProtectionCell cell;
  cell.antagonist = run.result->experiment_cell().antagonist();
  cell.runs = {run};
  cell.work.beside = MeanAntagonistRate({run.result});
  std::string text;
  for (const std::vector<std::string>& notes : {NotesOf(cell), NotesOf(run)}) {
    for (const std::string& note : notes) absl::StrAppend(&text, "; ", note);
  }
  return text;
}

// The service did not carry the load even alone, so there is nothing that it
// could keep: of goodput none, and of latency as much more as can be.
report::ObjectiveOutcome MissAlone(const config::Objective& objective,
                                   const ProtectionRun& run) {
  const double worst =
      objective.is_upper_limit ? ValueDistribution::kInfinite : 0;
  return report::CertainMiss(
      {.value = worst, .lower = worst, .upper = worst},
      absl::StrFormat("only %.3g %% of the requests were served within the "
                      "objective before "
                      "the antagonist began, and more than %.3g %% should be",
                      100 * run.baseline.served_share,
                      100 * kLeastServedShare));
}

}  // namespace

report::ObjectiveOutcome JudgeSeconds(const config::Objective& objective,
                                      absl::Span<const double> seconds) {
  std::vector<double> sorted(seconds.begin(), seconds.end());
  std::sort(sorted.begin(), sorted.end());
  const double percent = objective.metric.percent;
  report::Estimate estimate =
      percent > 0 ? PercentileOf(sorted, percent / 100) : MeanOf(sorted);
  estimate.log_error = ErrorOf(estimate);
  estimate.is_of_independent = true;
  // An interval of a mean may reach below what a share can be.
  if (estimate.lower) estimate.lower = std::max(*estimate.lower, 0.0);
  // A generator that is late is no excuse: the antagonist may be the reason.
  return report::ObjectiveOutcomeOf(objective, estimate,
                                    TextOf(objective, estimate.value));
}

absl::StatusOr<report::ObjectiveOutcome> JudgeIsolation(
    const config::Objective& objective, const TestResult& result) {
  const ProtectionRun run = MeasureProtection(
      result, {.rpc = objective.rpc, .limit_ns = objective.served_within_ns},
      kMostSeconds);
  // If no more are served, the p95 of the baseline is failed.
  if (run.baseline.served_share <= kLeastServedShare) {
    return MissAlone(objective, run);
  }
  if (!run.problem.empty()) {
    return absl::NotFoundError(
        absl::StrCat("the objective \"", objective.text,
                     "\" cannot be judged: ", run.problem));
  }
  const std::vector<double> seconds =
      objective.metric.kind == stats::Metric::Kind::kIsolation
          ? IsolationOf(run)
          : ImpactOf(run, kMainImpact);
  if (seconds.empty()) {
    return absl::NotFoundError(
        absl::StrCat("the objective \"", objective.text,
                     "\" cannot be judged: the run has no second beside the "
                     "antagonist that could be compared with its baseline"));
  }
  report::ObjectiveOutcome outcome = JudgeSeconds(objective, seconds);
  outcome.measured += Doubts(run);
  return outcome;
}

}  // namespace distbench::protection
