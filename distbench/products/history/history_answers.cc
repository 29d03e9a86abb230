// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/history/history_answers.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/base/human_units.h"
#include "distbench/base/json.h"
#include "distbench/base/message_json.h"
#include "distbench/base/printable_line.h"
#include "distbench/base/time_units.h"
#include "distbench/products/history/trends/change_points.h"
#include "distbench/report/terminal/layout.h"

namespace distbench::history {
namespace {

std::string Date(int64_t unix_ms) {
  return absl::FormatTime("%Y-%m-%d %H:%M", absl::FromUnixMillis(unix_ms),
                          absl::UTCTimeZone());
}

std::string Value(const SeriesSummary& series, double value) {
  if (series.unit() == "seconds") {
    return base::HumanDuration(value * base::kNsPerSecond);
  }
  if (series.unit() == "per_second") return base::HumanRate(value);
  if (series.unit() == "bytes") return base::HumanBytes(value);
  if (series.unit() == "share") return absl::StrFormat("%.3f %%", 100 * value);
  return absl::StrFormat("%.6g", value);
}

std::string Shown(const std::string& value) {
  constexpr size_t kMaxLength = 80;
  if (value.empty()) return "not known";
  return absl::StrCat(base::PrintableLine(value.substr(0, kMaxLength)),
                      value.size() > kMaxLength ? "..." : "");
}

std::string FactLine(const ChangedFact& fact) {
  const std::string distance =
      fact.distance() == 0
          ? ""
          : absl::StrFormat(", %d results %s", std::abs(fact.distance()),
                            fact.distance() < 0 ? "before" : "after");
  return absl::StrFormat("    %s: %s to %s%s\n",
                         base::PrintableLine(fact.name()), Shown(fact.before()),
                         Shown(fact.after()), distance);
}

std::string SegmentLine(const Trend& trend, const TrendSegment& segment) {
  const auto date_of = [&](int64_t point) {
    return Date(trend.points(static_cast<int>(point)).started());
  };
  const auto value = [&](double value) { return Value(trend.series(), value); };
  const int64_t count = segment.last() - segment.first() + 1;
  const std::string noise =
      count < int64_t{kMinSegmentPoints}
          ? ""
          : absl::StrCat(", noise ", value(segment.noise_low()), " to ",
                         value(segment.noise_high()));
  return absl::StrFormat(
      "  %s to %s, %d result%s%s: mean %s%s\n", date_of(segment.first()),
      date_of(segment.last()), count, count == 1 ? "" : "s",
      trend.points(static_cast<int>(segment.first())).traffic_changed()
          ? ", traffic changed"
          : "",
      value(segment.mean()), noise);
}

std::string ChangeText(const Trend& trend, const TrendChange& change) {
  const std::string relative =
      std::isfinite(change.relative())
          ? absl::StrFormat(" (%+.1f %%)", 100 * change.relative())
          : "";
  std::string text = absl::StrFormat(
      "  %s from %s on: level %s to %s%s, p %.2g%s\n", Date(change.started()),
      trend.points(static_cast<int>(change.index())).result(),
      Value(trend.series(), change.before()),
      Value(trend.series(), change.after()), relative, change.p_value(),
      change.accepted() ? ", accepted" : "");
  for (const ChangedFact& fact : change.facts()) {
    absl::StrAppend(&text, FactLine(fact));
  }
  return text;
}

}  // namespace

std::string ToJson(const google::protobuf::Message& answer) {
  return base::DumpJson(base::MessageJson(answer));
}

std::string ToJson(const FilterValues& filters) {
  return base::DumpJson(base::Json{{"tests", filters.tests},
                                   {"labels", filters.labels},
                                   {"hosts", filters.hosts},
                                   {"attributes", filters.attributes},
                                   {"truncated", filters.is_truncated}});
}

std::string ResultsText(const ResultPage& page) {
  if (page.results().empty()) return "No results\n";
  report::PageTable table = {
      .titles = {"result", "started (UTC)", "verdict", "test", "label", "file"},
      .rows = {}};
  std::string notes;
  for (auto result = page.results().rbegin(); result != page.results().rend();
       ++result) {
    table.rows.push_back({{result->id()},
                          {Date(result->started())},
                          {result->headline()},
                          {base::PrintableLine(result->test())},
                          {base::PrintableLine(result->label())},
                          {base::PrintableLine(result->file())}});
    std::vector<absl::string_view> marks;
    if (result->traffic_changed()) marks.push_back("traffic changed");
    if (result->accepted()) marks.push_back("accepted");
    if (result->note().empty() && marks.empty()) continue;
    absl::StrAppend(&notes, "  ", result->id(), marks.empty() ? "" : " ",
                    absl::StrJoin(marks, ", "),
                    result->note().empty() ? "" : ": ",
                    base::PrintableLine(result->note()), "\n");
  }
  return absl::StrCat(
      report::RenderTable(table, {.columns = 120}),
      notes.empty() ? "" : "Notes\n", notes,
      page.has_next()
          ? absl::StrCat("The newest ", page.results_size(), " of ",
                         page.total(), " results; --limit shows more\n")
          : "");
}

std::string TrendText(const Trend& trend) {
  const SeriesSummary& series = trend.series();
  std::string text = absl::StrFormat(
      "%s, %s, %s: %d results", base::PrintableLine(series.test()),
      base::PrintableLine(series.rpc()), base::PrintableLine(series.metric()),
      trend.points_size());
  if (trend.left_out() > 0) {
    absl::StrAppend(&text, ", without ", trend.left_out(),
                    " that failed, are invalid or were not measured");
  }
  const bool is_mixed = trend.traffic_kinds() > 1;
  if (is_mixed) {
    absl::StrAppend(&text, ", ", trend.traffic_kinds(), " kinds of traffic");
  }
  absl::StrAppend(&text, "\n");
  if (!trend.error().empty()) {
    absl::StrAppend(&text, "  ", trend.error(), "\n");
    if (!is_mixed) return text;
  }
  for (const TrendSegment& segment : trend.segments()) {
    absl::StrAppend(&text, SegmentLine(trend, segment));
  }
  if (!trend.error().empty()) return text;
  if (trend.changes().empty()) {
    return absl::StrCat(text, "  no change",
                        is_mixed ? " while the traffic was the same" : "",
                        "\n");
  }
  absl::StrAppend(&text, "  Changes\n");
  for (const TrendChange& change : trend.changes()) {
    absl::StrAppend(&text, ChangeText(trend, change));
  }
  return text;
}

}  // namespace distbench::history
