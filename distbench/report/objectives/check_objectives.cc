#include "distbench/report/objectives/check_objectives.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/config/arrivals/compile_arrivals.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/report/measurements/faults.h"
#include "distbench/report/measurements/measure.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/objectives/judge_objective.h"
#include "distbench/stats/metric.h"

namespace distbench::report {
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
  return judged.lower && judged.upper ? ""
                                      : "; the requests are too few for a "
                                        "bound, or differ too much from "
                                        "second to second: measure for longer";
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
      " (95% interval", judged.of_independent ? " of independent values" : "",
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
                       const TestResult& result) {
  JudgedObjective judged = {
      .check = {.verdict = CheckVerdict::kFail,
                .evidence = absl::StrCat("the test failed: ",
                                         result.run_info().failure())}};
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
  const bool has_failed = result.run_info().has_failure();
  const TestTotals totals = has_failed ? TestTotals() : AddUp(result);
  std::vector<JudgedObjective> all;
  for (size_t i = 0; i < texts.size(); ++i) {
    JudgedObjective& judged = all.emplace_back(
        has_failed ? Failed(parsed[i], result)
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
  const bool has_failed = result.run_info().has_failure();
  const bool passes =
      !has_failed &&
      (allow_invalid || verdict != SeverityName(Finding::INVALID));
  Check check = {.test = MarkedName(result.traffic_config().name(), result),
                 .condition = "the run is valid",
                 .verdict = passes ? CheckVerdict::kPass : CheckVerdict::kFail,
                 .evidence = verdict};
  const std::vector<Finding> findings = FindingsOf(result, totals);
  if (has_failed) {
    absl::StrAppend(&check.evidence, ": ", result.run_info().failure());
  } else if (!findings.empty() && verdict != "ok") {
    absl::StrAppend(&check.evidence, ": ", findings.front().message());
  }
  return check;
}

}  // namespace distbench::report
