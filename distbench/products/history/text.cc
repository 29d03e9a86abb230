#include "distbench/products/history/text.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/base/time_units.h"
#include "distbench/report/terminal/human_units.h"
#include "distbench/report/terminal/layout.h"

namespace distbench::history {
namespace {

constexpr int kColumns = 120;

std::string Date(int64_t unix_ms) {
  return absl::FormatTime("%Y-%m-%d %H:%M", absl::FromUnixMillis(unix_ms),
                          absl::UTCTimeZone());
}

std::string Value(const SeriesSummary& series, double value) {
  if (series.unit == "seconds")
    return report::HumanDuration(value * base::kNsPerSecond);
  if (series.unit == "per_second") return report::HumanRate(value);
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
             ? absl::StrCat(report::Visible(value.substr(0, kMaxLength)), "...")
             : report::Visible(value);
}

std::string FactLine(const ChangedFact& fact) {
  std::string line =
      absl::StrCat("    ", report::Visible(fact.name), ": ", Shown(fact.before),
                   " to ", Shown(fact.after));
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
                          {report::Visible(result->test)},
                          {report::Visible(result->label)},
                          {report::Visible(result->file)}});
    if (result->note.empty() && !result->is_accepted) continue;
    absl::StrAppend(
        &notes, "  ", result->id, result->is_accepted ? " accepted" : "",
        result->note.empty() ? "" : ": ", report::Visible(result->note), "\n");
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
  std::string text = absl::StrCat(report::Visible(trend.series.test), ", ",
                                  report::Visible(trend.series.rpc), ", ",
                                  report::Visible(trend.series.metric), ": ",
                                  trend.points.size(), " results");
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
