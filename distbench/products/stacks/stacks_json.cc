#include "distbench/products/stacks/stacks_json.h"

#include <cmath>
#include <optional>
#include <string>

#include "distbench/products/stacks/stacks.h"
#include "distbench/report/comparison/metric_text.h"
#include "distbench/report/json/json_values.h"

namespace distbench::stacks {
namespace {

using Json = nlohmann::ordered_json;

Json ValueJson(const std::optional<double>& value) {
  if (!value) return nullptr;
  return std::isinf(*value) ? Json("failed") : Json(*value);
}

Json StackRowJson(const StackRow& row) {
  Json json = {{"stack", row.stack}, {"runs", row.runs}};
  for (size_t metric = 0; metric < kStackMetricCount; ++metric) {
    const std::optional<StackFigure>& figure = row.figures[metric];
    json[kStackMetrics[metric].name] =
        figure ? Json{{"value", ValueJson(figure->value)},
                      {"lower", ValueJson(figure->lower)},
                      {"upper", ValueJson(figure->upper)}}
               : Json(nullptr);
  }
  return json;
}

Json StackChangeJson(const StackChange& change) {
  Json json = {{"stack", change.stack},
               {"metric", kStackMetrics[change.metric].name},
               {"verdict", std::string(report::VerdictName(change.verdict))}};
  std::optional<stats::Difference> ratio = change.ratio;
  if (change.verdict == report::ComparisonVerdict::kNotComparable) {
    ratio.reset();
  }
  report::SetDifference(ratio, "ratio", "", json);
  return json;
}

Json StackLoadJson(const StackLoad& load) {
  Json json = {{"test", load.test},
               {"offered_per_second", ValueJson(load.offered_per_second)},
               {"rows", Json::array()},
               {"changes", Json::array()},
               {"sentences", load.sentences},
               {"notes", load.notes}};
  for (const StackRow& row : load.rows) {
    json["rows"].push_back(StackRowJson(row));
  }
  for (const StackChange& change : load.changes) {
    json["changes"].push_back(StackChangeJson(change));
  }
  return json;
}

}  // namespace

Json StacksJson(absl::Span<const report::TestRun> runs) {
  const StackComparison comparison = CompareStacks(runs);
  Json json = {{"studies", Json::array()}, {"omissions", comparison.omissions}};
  for (const StackStudy& study : comparison.studies) {
    Json loads = Json::array();
    for (const StackLoad& load : study.loads) {
      loads.push_back(StackLoadJson(load));
    }
    json["studies"].push_back(
        {{"rpc", study.rpc},
         {"latency",
          study.has_response_times ? "response_time" : "service_time"},
         {"stacks", study.stacks},
         {"loads", std::move(loads)}});
  }
  return json;
}

}  // namespace distbench::stacks
