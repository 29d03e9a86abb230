#include "distbench/products/history/history_answers.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/base/human_units.h"
#include "distbench/base/json.h"
#include "distbench/base/printable_line.h"
#include "distbench/base/time_units.h"
#include "distbench/report/terminal/layout.h"

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

namespace {

constexpr int kColumns = 120;

std::string Date(int64_t unix_ms) {
  return absl::FormatTime("%Y-%m-%d %H:%M", absl::FromUnixMillis(unix_ms),
                          absl::UTCTimeZone());
}

std::string Value(const SeriesSummary& series, double value) {
  if (series.unit == "seconds")
    return base::HumanDuration(value * base::kNsPerSecond);
  if (series.unit == "per_second") return base::HumanRate(value);
  return absl::StrFormat("%.3f%%", 100 * value);
}

// A spread is a standard deviation in the unit of the values.
std::string Describe(const SeriesSummary& series, const ChangePoint& change) {
  std::string text = absl::StrCat(ChangeKindName(change.kind), " ",
                                  Value(series, change.before), " to ",
                                  Value(series, change.after));
  if (std::isfinite(change.relative)) {
    absl::StrAppendFormat(&text, " (%+.1f%%)", 100 * change.relative);
  }
  return text;
}

std::string Shown(absl::string_view value) {
  constexpr size_t kMaxLength = 80;
  if (value.empty()) return "not known";
  return value.size() > kMaxLength
             ? absl::StrCat(base::PrintableLine(value.substr(0, kMaxLength)),
                            "...")
             : base::PrintableLine(value);
}

std::string FactLine(const ChangedFact& fact) {
  std::string line =
      absl::StrCat("    ", base::PrintableLine(fact.name), ": ",
                   Shown(fact.before), " to ", Shown(fact.after));
  if (fact.distance != 0) {
    absl::StrAppend(&line, ", ", std::abs(fact.distance), " results ",
                    fact.distance < 0 ? "before" : "after");
  }
  return absl::StrCat(line, "\n");
}

std::string SegmentLine(const Trend& trend, const Segment& segment) {
  return absl::StrCat("  ", Date(trend.points[segment.first].started_ms),
                      " to ", Date(trend.points[segment.last].started_ms), ", ",
                      segment.last - segment.first + 1, " results: mean ",
                      Value(trend.series, segment.mean), ", noise ",
                      Value(trend.series, segment.noise_low), " to ",
                      Value(trend.series, segment.noise_high), "\n");
}

std::string ChangeText(const Trend& trend, const TrendChange& change) {
  std::string text =
      absl::StrCat("  ", Date(change.started_ms), " from ",
                   trend.points[change.change.index].result_id,
                   " on: ", Describe(trend.series, change.change),
                   absl::StrFormat(", p %.2g", change.change.p_value),
                   change.is_accepted ? ", accepted" : "", "\n");
  for (const ChangedFact& fact : change.facts) {
    absl::StrAppend(&text, FactLine(fact));
  }
  return text;
}

}  // namespace

std::string ResultsText(const ResultPage& page) {
  if (page.results.empty()) return "No results\n";
  report::PageTable table = {
      .titles = {"result", "started (UTC)", "verdict", "test", "label", "file"},
      .rows = {}};
  std::string notes;
  for (auto result = page.results.rbegin(); result != page.results.rend();
       ++result) {
    table.rows.push_back({{result->id},
                          {Date(result->started_ms)},
                          {result->verdict},
                          {base::PrintableLine(result->test)},
                          {base::PrintableLine(result->label)},
                          {base::PrintableLine(result->file)}});
    if (result->note.empty() && !result->is_accepted) continue;
    absl::StrAppend(&notes, "  ", result->id,
                    result->is_accepted ? " accepted" : "",
                    result->note.empty() ? "" : ": ",
                    base::PrintableLine(result->note), "\n");
  }
  const size_t shown = page.results.size();
  return absl::StrCat(
      report::RenderTable(table, {.columns = kColumns}),
      notes.empty() ? "" : "Notes\n", notes,
      page.next.empty()
          ? ""
          : absl::StrCat("The newest ", shown, " of ",
                         page.is_total_least ? "more than " : "", page.total,
                         " results; --limit shows more\n"));
}

std::string TrendText(const Trend& trend) {
  std::string text = absl::StrCat(base::PrintableLine(trend.series.test), ", ",
                                  base::PrintableLine(trend.series.rpc), ", ",
                                  base::PrintableLine(trend.series.metric),
                                  ": ", trend.points.size(), " results");
  if (trend.left_out > 0) {
    absl::StrAppend(&text, ", without ", trend.left_out,
                    " that failed or are invalid");
  }
  absl::StrAppend(&text, "\n");
  if (!trend.problem.empty()) {
    return absl::StrCat(text, "  ", trend.problem, "\n");
  }
  for (const Segment& segment : trend.segments) {
    absl::StrAppend(&text, SegmentLine(trend, segment));
  }
  if (trend.changes.empty()) return absl::StrCat(text, "  no change\n");
  absl::StrAppend(&text, "  Changes\n");
  for (const TrendChange& change : trend.changes) {
    absl::StrAppend(&text, ChangeText(trend, change));
  }
  return text;
}

}  // namespace distbench::history
