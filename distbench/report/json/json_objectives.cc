#include "distbench/report/json/json_objectives.h"

#include <cmath>
#include <optional>
#include <string>
#include <variant>

#include "distbench/config/objectives/objective.h"
#include "distbench/report/objectives/check_objectives.h"
#include "distbench/report/verdicts/check.h"

namespace distbench::report {
namespace {

using Json = nlohmann::ordered_json;

std::string VerdictText(CheckVerdict verdict) {
  return verdict == CheckVerdict::kFail ? "fail" : VerdictName(verdict);
}

// Infinite values stand for RPCs that failed, as in percentiles.
Json FigureJson(const std::optional<double>& figure) {
  if (!figure) return nullptr;
  return std::isinf(*figure) ? Json("failed") : Json(*figure);
}

const char* UnitOf(const config::Objective& objective) {
  if (std::holds_alternative<config::StreamTime>(objective.metric) ||
      std::holds_alternative<config::AttemptTime>(objective.metric)) {
    return "ns";
  }
  const auto* metric = std::get_if<stats::Metric>(&objective.metric);
  if (metric == nullptr || stats::IsShare(*metric)) return "share";
  if (metric->kind == stats::Metric::Kind::kAmplification) return "ratio";
  return stats::IsPerSecond(*metric) ? "per_second" : "ns";
}

}  // namespace

Json ObjectivesJson(const TestResult& result) {
  Json json = Json::array();
  for (const JudgedObjective& judged : JudgeObjectives(result)) {
    const std::optional<config::Objective>& objective = judged.objective;
    json.push_back(
        {{"objective", judged.check.condition},
         {"verdict", VerdictText(judged.check.verdict)},
         {"unit", objective ? Json(UnitOf(*objective)) : Json(nullptr)},
         {"limit", objective ? Json(objective->limit) : Json(nullptr)},
         {"measured", FigureJson(judged.measured)},
         {"lower", FigureJson(judged.lower)},
         {"upper", FigureJson(judged.upper)},
         {"evidence", judged.check.evidence}});
  }
  return json;
}

}  // namespace distbench::report
