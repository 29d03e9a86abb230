// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/ascii.h"
#include "distbench/base/json.h"
#include "distbench/base/version.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/comparison_formats/comparison_report.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/stats/run_interval.h"

namespace distbench::report {
namespace {

using Json = nlohmann::ordered_json;

Json Name(absl::string_view name) { return std::string(name); }

template <typename Items, typename ToJson>
Json ListJson(const Items& items, const ToJson& to_json) {
  Json json = Json::array();
  for (const auto& item : items) json.push_back(to_json(item));
  return json;
}

// Sets the estimate of a change, and its interval; null where absent.
void SetChange(const std::optional<stats::Difference>& difference, Json& json) {
  for (const char* name : {"change", "lower", "upper"}) json[name] = nullptr;
  if (!difference) return;
  json["change"] = difference->estimate;
  if (!difference->interval) return;
  json["lower"] = difference->interval->lower;
  json["upper"] = difference->interval->upper;
}

Json MetricJson(const MetricComparison& metric) {
  Json json = {
      {"metric", stats::MetricName(metric.metric)},
      {"unit", Name(stats::UnitName(stats::UnitOf(metric.metric)))},
      {"higher_is_better", stats::HasBetter(metric.metric)
                               ? Json(stats::HigherIsBetter(metric.metric))
                               : Json(nullptr)},
      {"change_is", IsByRatio(metric) ? "ratio" : "difference"},
      {"verdict", Name(VerdictName(metric.verdict))},
      {"reason", base::TextOrNull(metric.reason)}};
  const bool is_compared = metric.verdict != ComparisonVerdict::kNotComparable;
  for (const char* name :
       {"base", "new", "difference", "change", "lower", "upper"}) {
    json[name] = nullptr;
  }
  if (is_compared) {
    json["base"] = metric.base;
    json["new"] = metric.next;
    json["difference"] = metric.next - metric.base;
    SetChange(metric.change, json);
  }
  json["noise_floor"] = base::OrNull(metric.noise_floor);
  json["is_beyond_noise_floor"] =
      metric.noise_floor ? Json(IsBeyondNoise(metric)) : Json(nullptr);
  json["base_values"] = metric.base_values;
  json["new_values"] = metric.next_values;
  const bool is_of_rpc = stats::IsOfRpc(metric.metric);
  json["base_rpcs"] = is_of_rpc ? Json(metric.base_count) : Json(nullptr);
  json["new_rpcs"] = is_of_rpc ? Json(metric.next_count) : Json(nullptr);
  return json;
}

Json DistributionJson(const DistributionChange& change) {
  const char* verdict = !change.p_value    ? "not shown"
                        : change.differs() ? "differs"
                                           : "no difference";
  return {{"verdict", verdict},
          {"reason", base::TextOrNull(change.reason)},
          {"p_value", base::OrNull(change.p_value)},
          {"distance", change.p_value ? Json(change.distance) : Json(nullptr)}};
}

Json RpcJson(const RpcComparison& rpc) {
  Json json = {{"name", rpc.rpc},
               {"latency", rpc.latency},
               {"distribution", DistributionJson(rpc.distribution)}};
  json["metrics"] = ListJson(rpc.metrics, MetricJson);
  return json;
}

Json CircumstanceJson(const Circumstance& circumstance) {
  return {{"name", circumstance.name},
          {"base", base::TextOrNull(circumstance.base)},
          {"new", base::TextOrNull(circumstance.other)},
          {"differs", circumstance.differs()}};
}

Json TestJson(const TestComparison& test) {
  Json json = {
      {"name", test.test},
      {"base_name", base::TextOrNull(test.base_name)},
      {"new_name", base::TextOrNull(test.next_name)},
      {"base_runs", test.base_runs},
      {"new_runs", test.next_runs},
      {"not_comparable", base::TextOrNull(test.not_comparable)},
      {"is_invalid", test.is_invalid},
      {"most_runs_until_decided",
       test.look_plan ? Json(test.look_plan->last) : Json(nullptr)},
      {"notes", test.notes},
      {"circumstances", ListJson(test.circumstances, CircumstanceJson)}};
  json["rpcs"] = ListJson(test.rpcs, RpcJson);
  json["metrics"] = ListJson(test.metrics, MetricJson);
  return json;
}

Json SearchJson(const CapacityComparison& question) {
  Json json = {{"question", question.question},
               {"base_searches", question.base_searches.all},
               {"base_converged", question.base_searches.converged},
               {"new_searches", question.next_searches.all},
               {"new_converged", question.next_searches.converged},
               {"tolerance", question.tolerance},
               {"not_comparable", base::TextOrNull(question.not_comparable)}};
  Json& metrics = json["metrics"] = Json::array();
  for (const CapacityRatio& ratio : question.ratios) {
    Json metric = {{"metric", ratio.name},
                   {"verdict", Name(VerdictName(JudgeRatio(ratio, question)))},
                   {"base", ratio.base},
                   {"new", ratio.next}};
    SetChange(ratio.ratio, metric);
    metrics.push_back(std::move(metric));
  }
  return json;
}

Json CheckJson(const Check& check) {
  return {{"test", check.test},
          {"condition", check.condition},
          {"verdict", absl::AsciiStrToLower(VerdictName(check.verdict))},
          {"evidence", check.evidence}};
}

Json SideJson(const ComparisonSide& side) {
  return {{"source", side.source},
          {"runs", side.runs.size()},
          {"hosts", OriginOf(side.runs)}};
}

}  // namespace

std::string ComparisonJson(const ComparisonReport& report) {
  const Headline headline = HeadlineOf(report);
  Json document = {{"schema", "distbench comparison"},
                   {"schema_version", kComparisonSchemaVersion},
                   {"distbench_version", std::string(base::ProgramVersion())},
                   {"confidence", kCompareConfidence},
                   {"verdict", headline.verdict},
                   {"headline", headline.text},
                   {"cautions", headline.cautions},
                   {"base", SideJson(report.base)},
                   {"new", SideJson(report.next)},
                   {"allow_undecided", report.allow_undecided},
                   {"checks", ListJson(report.checks, CheckJson)}};
  document["tests"] = ListJson(report.tests, TestJson);
  document["searches"] = ListJson(report.capacities.questions, SearchJson);
  document["search_notes"] = report.capacities.notes;
  return base::DumpJson(document) + '\n';
}

}  // namespace distbench::report
