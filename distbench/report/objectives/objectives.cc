// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/objectives/objectives.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "distbench/base/plugins.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/report/measurements/faults.h"
#include "distbench/report/measurements/measure.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/run_outcome.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/results/run_failure.h"
#include "distbench/results/walk.h"
#include "distbench/stats/metric.h"
#include "distbench/stats/outcomes.h"

namespace distbench::report {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The logarithm of a factor of 10,000. Missed by more is missed no more: what
// should be high and is 0 has no logarithm.
constexpr double kFarthest = 9.21;

Excess ExcessOf(const config::Objective& objective, const Estimate& estimate) {
  if (std::isinf(estimate.value)) return {.estimate = kInfinity, .error = 0};
  const double log_ratio =
      std::log(std::max(estimate.value, std::numeric_limits<double>::min()) /
               objective.limit);
  return {.estimate = std::min(
              objective.is_upper_limit ? log_ratio : -log_ratio, kFarthest),
          .error = estimate.log_error};
}

bool IsFailed(const std::optional<double>& bound) {
  return bound && std::isinf(*bound);
}

// Times without an upper bound may reach into what failed, if anything did.
bool MayHaveFailed(const config::Objective& objective,
                   const Estimate& estimate) {
  if (estimate.upper) return IsFailed(estimate.upper);
  return stats::UnitOf(objective.metric) == stats::MetricUnit::kNs &&
         estimate.failed_share > 0;
}

// If the percentile falls among failures, and more RPCs fail than it leaves,
// for certain: what says so; otherwise empty. The interval of the percentile
// does not say it of the worst runs: where a server answers none after half of
// the time, it reaches from the latencies of the first half into the failures
// of the other, and would leave the objective undecided.
//
// Where a percentile keeps its limit, no more RPCs fail than it leaves. That
// the lower bound of those that fail is above it then has a probability of
// 2.5 % at most, as that the interval of the percentile is beyond its limit;
// and both happen in mostly the same runs, because failures are a part of what
// is beyond the limit. Estimates and intervals stay as they are, and with them
// what interval_coverage_test and bench/interval_coverage find.
std::string CertainFailuresText(const stats::Metric& metric,
                                const Estimate& estimate,
                                const RpcMeasurements& rpc, LatencyKind kind) {
  if (metric.kind != stats::Metric::Kind::kPercentile ||
      !std::isinf(estimate.value) || IsFailed(estimate.lower)) {
    return "";
  }
  const absl::StatusOr<Estimate> failures =
      Measure({.kind = stats::Metric::Kind::kFailures}, rpc, kind);
  const double left = 1 - metric.percent / 100;
  if (!failures.ok() || failures->lower.value_or(0) <= left) return "";
  const auto share = [](double value) {
    return ValueText(stats::MetricUnit::kShare, value);
  };
  return absl::StrCat(", and at least ", share(*failures->lower),
                      " do (95 % interval), more than the ", share(left),
                      " above a ", stats::MetricName(metric));
}

// `kind` is what the latencies of the RPC are.
absl::StatusOr<ObjectiveOutcome> JudgeByLatency(
    const config::Objective& objective, const RpcMeasurements& rpc,
    LatencyKind kind, double allowed_failures) {
  const stats::Metric& metric = objective.metric;
  const absl::StatusOr<Estimate> estimate = Measure(metric, rpc, kind);
  if (!estimate.ok()) return estimate.status();
  std::string measured = EstimateText(metric, *estimate);
  const bool leaves_out_failures = metric.kind == stats::Metric::Kind::kMean ||
                                   metric.kind == stats::Metric::Kind::kRate;
  // Where nothing succeeded, a mean is infinite, which says it all.
  if (leaves_out_failures && estimate->failed_share > allowed_failures &&
      std::isfinite(estimate->value)) {
    absl::StrAppend(&measured, ", more than the ",
                    ValueText(stats::MetricUnit::kShare, allowed_failures),
                    " allowed");
    return CertainMiss(*estimate, std::move(measured));
  }
  const std::string certain_failures =
      CertainFailuresText(metric, *estimate, rpc, kind);
  if (!certain_failures.empty()) {
    return CertainMiss(*estimate, measured + certain_failures);
  }
  return ObjectiveOutcomeOf(objective, *estimate, std::move(measured));
}

absl::StatusOr<ObjectiveOutcome> JudgeRpc(const config::Objective& objective,
                                          const RpcMeasurements& rpc,
                                          double allowed_failures) {
  const auto judge = [&](LatencyKind kind) {
    return JudgeByLatency(objective, rpc, kind, allowed_failures);
  };
  absl::StatusOr<ObjectiveOutcome> outcome = judge(rpc.latency_kind());
  if (!outcome.ok() || !stats::IsLatency(objective.metric)) return outcome;
  const auto service = judge(LatencyKind::kService);
  if (service.ok()) outcome->service_excess = service->excess;
  return outcome;
}

absl::StatusOr<ObjectiveOutcome> JudgeCpu(const config::Objective& objective,
                                          const TestResult& result,
                                          const TestTotals& totals) {
  const absl::StatusOr<Estimate> estimate = MeasureHostCpu(result, totals);
  if (!estimate.ok()) return estimate.status();
  return ObjectiveOutcomeOf(objective, *estimate,
                            EstimateText(objective.metric, *estimate));
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
                       absl::Span<const config::Objective> objectives,
                       const TestResult& result) {
  const absl::StatusOr<int> rpc = FindRpc(objective, result);
  if (!rpc.ok()) return stats::kAllowedFailures;
  std::optional<double> lowest;
  for (const config::Objective& other : objectives) {
    if (other.metric.kind != stats::Metric::Kind::kFailures ||
        !other.is_upper_limit) {
      continue;
    }
    const absl::StatusOr<int> other_rpc = FindRpc(other, result);
    if (!other_rpc.ok() || *other_rpc != *rpc) continue;
    lowest = std::min(lowest.value_or(other.limit), other.limit);
  }
  return lowest.value_or(stats::kAllowedFailures);
}

absl::StatusOr<ObjectiveOutcome> Judge(const config::Objective& objective,
                                       const TestResult& result,
                                       const TestTotals& totals,
                                       double allowed_failures) {
  if (objective.metric.kind == stats::Metric::Kind::kCpu) {
    return JudgeCpu(objective, result, totals);
  }
  for (const auto& [name, product] : base::Plugins<ObjectiveJudge>::All()) {
    if (!product->judges(objective)) continue;
    return product->judge(objective, result, totals);
  }
  if (!stats::IsOfRpc(objective.metric)) {
    return absl::NotFoundError(
        absl::StrCat("the objective \"", objective.text,
                     "\" cannot be judged: it is measured by a product that "
                     "this program was built without"));
  }
  const absl::StatusOr<int> rpc = FindRpc(objective, result);
  if (!rpc.ok()) return rpc.status();
  return JudgeRpc(objective,
                  MeasurementsOf(result, totals, *rpc, kMeasuredIntervals),
                  allowed_failures);
}

ObjectiveOutcome ObjectiveOutcomeOf(const config::Objective& objective,
                                    const Estimate& estimate,
                                    std::string measured) {
  const Excess excess = ExcessOf(objective, estimate);
  return {.estimate = estimate,
          .excess = excess,
          .service_excess = excess,
          .measured = std::move(measured),
          .is_certain_miss = IsFailed(estimate.lower),
          .may_have_failed = MayHaveFailed(objective, estimate)};
}

ObjectiveOutcome CertainMiss(const Estimate& estimate, std::string measured) {
  const Excess excess = {.estimate = kInfinity, .error = 0};
  return {.estimate = estimate,
          .excess = excess,
          .service_excess = excess,
          .measured = std::move(measured),
          .is_certain_miss = true};
}

// ---- All objectives of a run ------------------------------------------------

namespace {

std::string BoundText(const config::Objective& objective,
                      const std::optional<double>& bound) {
  if (!bound) return "?";
  return std::isinf(*bound)
             ? "failed"
             : ValueText(stats::UnitOf(objective.metric), *bound);
}

// Whether what may have failed leaves a lower limit open, which the latencies
// of those that succeeded seem to keep.
bool IsLeftOpenByFailures(const ObjectiveOutcome& outcome,
                          const config::Objective& objective) {
  return outcome.may_have_failed && !objective.is_upper_limit;
}

// What would decide, if not the limit is what is close.
std::string AdviceText(const ObjectiveOutcome& outcome,
                       const JudgedObjective& judged) {
  if (judged.check.verdict != CheckVerdict::kUndecided) return "";
  if (IsLeftOpenByFailures(outcome, *judged.objective)) {
    return "; what failed misses every limit";
  }
  if (judged.has_grown) {
    return "; latencies were still growing: a longer run would measure more";
  }
  if (judged.lower && judged.upper) return "";
  return absl::StrCat(
      "; the ",
      stats::IsOfRpc(judged.objective->metric) ? "requests" : "readings",
      " are too few for a bound, or differ too much from second to second: "
      "measure for longer");
}

CheckVerdict VerdictOf(const ObjectiveOutcome& outcome,
                       const JudgedObjective& judged) {
  const config::Objective& objective = *judged.objective;
  if (outcome.is_certain_miss) return CheckVerdict::kFail;
  return IsLeftOpenByFailures(outcome, objective)
             ? CheckVerdict::kUndecided
             : JudgeBounds(judged.lower, judged.upper, objective.limit,
                           objective.is_upper_limit);
}

// An interval, and what would decide, of what has not missed for certain: the
// measurement then says why, and its interval does not.
std::string IntervalText(const ObjectiveOutcome& outcome,
                         const JudgedObjective& judged) {
  if (outcome.is_certain_miss) return "";
  const config::Objective& objective = *judged.objective;
  return absl::StrCat(
      " (95 % interval", judged.of_independent ? " of independent values" : "",
      ": ", BoundText(objective, judged.lower), " to ",
      BoundText(objective, judged.upper), ")", AdviceText(outcome, judged));
}

void SetVerdict(const ObjectiveOutcome& outcome, JudgedObjective& judged) {
  const Estimate& estimate = outcome.estimate;
  judged.measured = estimate.value;
  judged.lower = estimate.lower;
  // What a longer run would measure has no upper bound.
  if (!judged.has_grown) judged.upper = estimate.upper;
  judged.of_independent = estimate.is_of_independent;
  judged.check.verdict = VerdictOf(outcome, judged);
  judged.check.evidence =
      absl::StrCat(outcome.measured, IntervalText(outcome, judged));
}

// Judges an objective, or says why its text is none.
JudgedObjective JudgeOne(const absl::StatusOr<config::Objective>& objective,
                         absl::Span<const config::Objective> all,
                         const TestResult& result, const TestTotals& totals) {
  JudgedObjective judged = {.check = {.verdict = CheckVerdict::kFail}};
  if (!objective.ok()) {
    judged.check.evidence = std::string(objective.status().message());
    return judged;
  }
  judged.objective = *objective;
  const absl::StatusOr<ObjectiveOutcome> outcome = Judge(
      *objective, result, totals, AllowedFailures(*objective, all, result));
  if (!outcome.ok()) {
    judged.check.evidence =
        absl::StrCat("cannot be judged: ", outcome.status().message());
    return judged;
  }
  judged.has_grown = outcome->estimate.has_grown && !GrowsByPlan(result);
  SetVerdict(*outcome, judged);
  return judged;
}

// The verdict on every objective of a test that failed.
JudgedObjective Failed(const absl::StatusOr<config::Objective>& objective,
                       const std::string& failure) {
  JudgedObjective judged = {
      .check = {.verdict = CheckVerdict::kFail,
                .evidence = absl::StrCat("the test failed: ", failure)}};
  if (objective.ok()) judged.objective = *objective;
  return judged;
}

// The objectives of the test, then `more`, each once.
std::vector<std::string> TextsOf(const TestResult& result,
                                 absl::Span<const std::string> more) {
  std::vector<std::string> texts(result.traffic_config().objectives().begin(),
                                 result.traffic_config().objectives().end());
  for (const std::string& text : more) {
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) {
      texts.push_back(text);
    }
  }
  return texts;
}

}  // namespace

bool GrowsByPlan(const TestResult& result) {
  return config::HasVaryingRate(result.traffic_config()) ||
         result.has_experiment_cell() || !FaultWindowsOf(result).empty();
}

std::vector<JudgedObjective> JudgeObjectives(
    const TestResult& result, absl::Span<const std::string> more) {
  const std::vector<std::string> texts = TextsOf(result, more);
  if (texts.empty()) return {};
  std::vector<absl::StatusOr<config::Objective>> parsed;
  std::vector<config::Objective> objectives;
  for (const std::string& text : texts) {
    parsed.push_back(config::ParseObjective(text));
    if (parsed.back().ok()) objectives.push_back(*parsed.back());
  }
  const std::optional<std::string> failure = results::FailureOf(result);
  const TestTotals totals = failure ? TestTotals() : AddUp(result);
  std::vector<JudgedObjective> all;
  for (size_t i = 0; i < texts.size(); ++i) {
    JudgedObjective& judged = all.emplace_back(
        failure ? Failed(parsed[i], *failure)
                : JudgeOne(parsed[i], objectives, result, totals));
    judged.check.test = MarkedName(result.traffic_config().name(), result);
    judged.check.condition = texts[i];
  }
  return all;
}

std::vector<Check> CheckObjectives(const TestResult& result,
                                   absl::Span<const std::string> more) {
  std::vector<Check> checks;
  for (JudgedObjective& judged : JudgeObjectives(result, more)) {
    checks.push_back(std::move(judged.check));
  }
  return checks;
}

Check CheckRun(const TestResult& result, bool allow_invalid) {
  const TestTotals totals = AddUp(result);
  const std::string verdict = RunVerdict(result, totals);
  const std::optional<std::string> failure = results::FailureOf(result);
  const bool passes =
      !failure && (allow_invalid || verdict != SeverityName(Finding::INVALID));
  Check check = {.test = MarkedName(result.traffic_config().name(), result),
                 .condition = "the run is valid",
                 .verdict = passes ? CheckVerdict::kPass : CheckVerdict::kFail,
                 .evidence = verdict};
  const std::vector<Finding> findings = FindingsOf(result, totals);
  if (failure) {
    absl::StrAppend(&check.evidence, ": ", *failure);
  } else if (!findings.empty() && verdict != "ok") {
    absl::StrAppend(&check.evidence, ": ", findings.front().message());
  }
  return check;
}

}  // namespace distbench::report
