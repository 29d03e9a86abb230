#include "distbench/report/objectives/check_objectives.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/objectives/judge_objective.h"

namespace distbench::report {
namespace {

std::string BoundText(const config::Objective& objective,
                      const std::optional<double>& bound) {
  if (!bound) return "?";
  if (std::isinf(*bound)) return "failed";
  switch (config::UnitOf(objective)) {
    case stats::MetricUnit::kNs:
      return absl::StrFormat("%.3f ms", *bound / 1e6);
    case stats::MetricUnit::kPerSecond:
    case stats::MetricUnit::kRatio:
      return absl::StrFormat("%.6g", *bound);
    case stats::MetricUnit::kShare:
      return absl::StrFormat("%.3g%%", 100 * *bound);
  }
  return "";
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
  const absl::StatusOr<ObjectiveOutcome> outcome =
      Judge(*objective, result, totals, AllowedFailures(*objective, all));
  if (!outcome.ok()) {
    judged.check.evidence =
        absl::StrCat("cannot be judged: ", outcome.status().message());
    return judged;
  }
  judged.measured = outcome->value;
  judged.lower = outcome->lower;
  judged.upper = outcome->upper;
  judged.check.verdict =
      JudgeBounds(outcome->lower, outcome->upper, objective->limit,
                  objective->is_upper_limit);
  judged.check.evidence =
      absl::StrCat(outcome->measured, " (95% interval",
                   outcome->is_of_independent ? " of independent values" : "",
                   ": ", BoundText(*objective, outcome->lower), " to ",
                   BoundText(*objective, outcome->upper), ")");
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
  const std::string verdict = RunVerdict(result);
  const bool has_failed = result.run_info().has_failure();
  const bool passes =
      !has_failed &&
      (allow_invalid || verdict != SeverityName(Finding::INVALID));
  Check check = {.test = MarkedName(result.traffic_config().name(), result),
                 .condition = "the run is valid",
                 .verdict = passes ? CheckVerdict::kPass : CheckVerdict::kFail,
                 .evidence = verdict};
  const std::vector<Finding> findings = FindingsBySeverity(result);
  if (has_failed) {
    absl::StrAppend(&check.evidence, ": ", result.run_info().failure());
  } else if (!findings.empty() && verdict != "ok") {
    absl::StrAppend(&check.evidence, ": ", findings.front().message());
  }
  return check;
}

}  // namespace distbench::report
