#include "distbench/base/json.h"
#include "distbench/products/history/json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

namespace distbench::history {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity.
Json Number(const std::optional<double>& value) {
  if (!value || !std::isfinite(*value)) return nullptr;
  return *value;
}

template <typename List, typename ToObject>
Json Array(const List& list, ToObject to_object) {
  Json array = Json::array();
  for (const auto& element : list) array.push_back(to_object(element));
  return array;
}

Json ObjectOf(const IndexedResult& result) {
  return {{"id", result.id},
          {"file", result.file},
          {"run_id", result.run_id},
          {"test", result.test},
          {"label", result.label},
          {"started", result.started_ms},
          {"duration_seconds", result.duration_seconds},
          {"verdict", result.verdict},
          {"hosts", result.hosts},
          {"attributes", result.attributes},
          {"metrics", result.metrics},
          {"accepted", result.is_accepted},
          {"note", result.note}};
}

Json ObjectOf(const SeriesSummary& series) {
  return {{"id", series.id},
          {"test", series.test},
          {"rpc", series.rpc},
          {"metric", series.metric},
          {"unit", series.unit},
          {"better", series.higher_is_better ? "higher" : "lower"},
          {"points", series.points},
          {"changes", series.changes},
          {"last_change", base::OrNull(series.last_change_ms)}};
}

Json ObjectOf(const TrendPoint& point) {
  return {{"result", point.result_id},    {"started", point.started_ms},
          {"value", Number(point.value)}, {"low", Number(point.low)},
          {"high", Number(point.high)},   {"accepted", point.is_accepted},
          {"verdict", point.verdict}};
}

Json ObjectOf(const Segment& segment) {
  return {{"first", segment.first},
          {"last", segment.last},
          {"mean", Number(segment.mean)},
          {"noise_low", Number(segment.noise_low)},
          {"noise_high", Number(segment.noise_high)}};
}

Json ObjectOf(const ChangedFact& fact) {
  return {{"name", fact.name},
          {"before", fact.before},
          {"after", fact.after},
          {"distance", fact.distance}};
}

Json ObjectOf(const TrendChange& trend_change) {
  const ChangePoint& change = trend_change.change;
  return {{"index", change.index},
          {"started", trend_change.started_ms},
          {"kind", std::string(ChangeKindName(change.kind))},
          {"before", Number(change.before)},
          {"after", Number(change.after)},
          {"relative", Number(change.relative)},
          {"p_value", Number(change.p_value)},
          {"accepted", trend_change.is_accepted},
          {"facts", Array(trend_change.facts, [](const ChangedFact& fact) {
             return ObjectOf(fact);
           })}};
}

// The overload that each element of a list needs.
constexpr auto kToObject = [](const auto& element) {
  return ObjectOf(element);
};

}  // namespace

std::string ToJson(const ResultPage& page) {
  return base::DumpJson({{"results", Array(page.results, kToObject)},
                         {"total", page.total},
                         {"total_is_least", page.is_total_least},
                         {"next", base::TextOrNull(page.next)}});
}

std::string ToJson(const FilterValues& filters) {
  return base::DumpJson({{"tests", filters.tests},
                         {"labels", filters.labels},
                         {"hosts", filters.hosts},
                         {"attributes", filters.attributes},
                         {"truncated", filters.is_truncated}});
}

std::string ToJson(absl::Span<const FileProblem> problems) {
  return base::DumpJson(
      {{"files", Array(problems, [](const FileProblem& problem) {
          return Json{{"file", problem.file}, {"problem", problem.problem}};
        })}});
}

std::string ToJson(absl::Span<const SeriesSummary> series) {
  return base::DumpJson({{"series", Array(series, kToObject)}});
}

std::string ToJson(const Trend& trend) {
  return base::DumpJson({{"series", ObjectOf(trend.series)},
                         {"points", Array(trend.points, kToObject)},
                         {"segments", Array(trend.segments, kToObject)},
                         {"changes", Array(trend.changes, kToObject)},
                         {"left_out", trend.left_out},
                         {"error", trend.problem}});
}

}  // namespace distbench::history
