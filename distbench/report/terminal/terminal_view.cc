// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/terminal/terminal_view.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "distbench/base/human_units.h"
#include "distbench/base/printable_line.h"
#include "distbench/report/derived/derive.h"
#include "distbench/report/derived/table_rows.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/objectives/objectives.h"
#include "distbench/report/objectives/run_headline.h"
#include "distbench/report/parts/text_part.h"
#include "distbench/report/terminal/layout.h"
#include "distbench/report/text/text_summary_sections.h"
#include "distbench/report/verdicts/check.h"
#include "distbench/results/run_failure.h"
#include "distbench/stats/quantile_interval.h"
#include "google/protobuf/message.h"
#include "proto/report.pb.h"

namespace distbench::report {
namespace {

constexpr int kLabelWidth = 13;

Color ColorOf(absl::string_view verdict) {
  if (verdict == "ok") return Color::kGood;
  if (verdict == "note") return Color::kNone;
  return verdict == "failed" || verdict == "invalid" || verdict == "missed"
             ? Color::kBad
             : Color::kWarning;
}

Color ColorOf(CheckVerdict verdict) {
  switch (verdict) {
    case CheckVerdict::kPass:
      return Color::kGood;
    case CheckVerdict::kFail:
      return Color::kBad;
    case CheckVerdict::kUndecided:
      return Color::kWarning;
  }
  return Color::kNone;
}

// A line of the kinds that have a coloured label: findings and objectives.
std::string Labelled(absl::string_view label, Color color,
                     absl::string_view text, const PageStyle& style) {
  return Paragraph({absl::StrCat("  ", label), color},
                   base::PrintableLine(text), kLabelWidth, style);
}

// "name: missed (1 missed of 2 objectives)"
std::string FirstLine(const std::string& name, const RunHeadline& headline,
                      const PageStyle& style) {
  const std::string& verdict = headline.verdict;
  const std::string doubts = DoubtsText(headline);
  const std::string start = absl::StrCat(name, ": ");
  const std::string line =
      Paragraph({start + verdict},
                doubts.empty() ? "" : absl::StrCat("(", doubts, ")"), 2, style);
  return absl::StrCat(start, Paint({verdict, ColorOf(verdict)}, style),
                      line.substr(start.size() + verdict.size()));
}

std::string Headline(const TestResult& result, const RunHeadline& headline,
                     absl::string_view name_suffix, const PageStyle& style) {
  const std::string& name = result.traffic_config().name();
  std::string text = FirstLine(
      absl::StrCat(
          MarkedName(name.empty() ? "The test" : base::PrintableLine(name),
                     result),
          name_suffix),
      headline, style);
  for (const std::string& line : OpeningLinesOf(result)) {
    text += Paragraph({}, line, 2, style);
  }
  return text;
}

// Of one kind; the summary has all.
constexpr size_t kMostMessages = 3;

std::string Findings(const FindingKind& kind, absl::string_view flag_of_lists,
                     const PageStyle& style) {
  const std::string severity = SeverityName(kind.severity);
  const std::string code =
      kind.code.empty() ? "" : absl::StrCat(" (", kind.code, ")");
  const size_t shown = std::min(kind.messages.size(), kMostMessages);
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    text += Labelled(severity, ColorOf(severity),
                     absl::StrCat(kind.messages[i], code), style);
  }
  if (kind.messages.size() > shown) {
    text += Labelled("", Color::kNone,
                     absl::StrCat("and ", kind.messages.size() - shown, " more",
                                  code, ": ", flag_of_lists, " lists them"),
                     style);
  }
  if (!kind.advice.empty()) {
    text += Labelled("", Color::kNone,
                     absl::StrCat("What to do: ", kind.advice), style);
  }
  return text;
}

std::string Findings(const TestResult& result, const TestTotals& totals,
                     absl::string_view flag_of_lists, const PageStyle& style) {
  std::string text;
  if (const std::optional<std::string> failure = results::FailureOf(result)) {
    text += Labelled(
        "failed", Color::kBad,
        absl::StrCat(*failure, " (what it measured is incomplete)"), style);
  }
  for (const FindingKind& kind : KindsOf(FindingsOf(result, totals))) {
    text += Findings(kind, flag_of_lists, style);
  }
  return text;
}

std::string Objectives(const std::vector<Check>& objectives,
                       const PageStyle& style) {
  std::string text;
  for (const Check& check : objectives) {
    text +=
        Labelled(VerdictName(check.verdict), ColorOf(check.verdict),
                 absl::StrCat(check.condition, ": ", check.evidence), style);
  }
  return text.empty() ? "" : absl::StrCat("Objectives:\n", text);
}

// ---- Tables -----------------------------------------------------------------

constexpr double kShownPercents[] = {50, 95, 99};

// A percentile with fewer requests beyond it is mostly chance.
constexpr double kMinBeyond = 10;

// Returns the mark of a percentile of so many requests.
absl::string_view ChanceMark(double count, double percent) {
  // 1 - 0.9 is not exactly 0.1.
  constexpr double kTolerance = 1e-6;
  const double beyond = count * (1 - percent / 100);
  return beyond >= kMinBeyond - kTolerance ? "" : "~";
}

ColoredText FailedCell(double failed, double count) {
  if (failed == 0) return {"0"};
  return {
      absl::StrFormat("%.0f (%s)", failed, base::HumanPercent(failed / count)),
      Color::kBad};
}

template <typename Figures>
ColoredText MeanCell(const Figures& figures) {
  return {figures.has_mean_ns() ? base::HumanDuration(figures.mean_ns()) : ""};
}

ColoredText TimeCell(int64_t ns, double count, double percent) {
  return {absl::StrCat(ChanceMark(count, percent),
                       base::HumanDuration(static_cast<double>(ns)))};
}

ColoredText FailedTimeCell(double count, double percent) {
  return {absl::StrCat(ChanceMark(count, percent), "failed"), Color::kBad};
}

ColoredText PercentileCell(const Report::Latency& latency, double count,
                           double percent) {
  for (const Report::Percentile& percentile : latency.percentiles()) {
    if (percentile.percentile() != percent) continue;
    return percentile.failed()
               ? FailedTimeCell(count, percent)
               : TimeCell(percentile.value_ns(), count, percent);
  }
  return {};
}

void DropColumn(absl::string_view title, PageTable& table) {
  const auto found = std::find(table.titles.begin(), table.titles.end(), title);
  const auto position = found - table.titles.begin();
  table.titles.erase(found);
  for (auto& row : table.rows) row.erase(row.begin() + position);
}

struct RpcPart {
  PageTable table = {{"RPC", "offered", "achieved", "mean", "p50", "p95", "p99",
                      "failed", "unsent"},
                     {}};
  bool has_open_loops = false;
  bool has_closed_loops = false;
  bool has_unsent = false;
};

// Adds an RPC. The latency is the response time in open loops, and the service
// time elsewhere.
void AddRpc(const RpcMeasurements& measured, RpcPart& part) {
  const Report::Rpc rpc = DeriveRpc(measured);
  const auto failed = static_cast<double>(rpc.failed_count());
  const auto ended = static_cast<double>(rpc.succeeded_count()) + failed;
  const Report::Offered& load = rpc.offered_load();
  const auto unsent = static_cast<double>(load.unsent_count());
  const bool is_open_loop = measured.latency_kind() == LatencyKind::kResponse;
  const Report::Latency& latency =
      is_open_loop ? rpc.response_time() : rpc.service_time();
  const auto count = static_cast<double>(latency.count());
  (is_open_loop ? part.has_open_loops : part.has_closed_loops) = true;
  part.has_unsent |= unsent > 0;
  std::vector<ColoredText> cells = {
      {base::PrintableLine(rpc.name())},
      {measured.offered_per_second
           ? base::HumanRate(*measured.offered_per_second)
           : ""},
      {base::HumanRate(rpc.per_second())},
      MeanCell(latency)};
  for (const double percent : kShownPercents) {
    cells.push_back(PercentileCell(latency, count, percent));
  }
  cells.push_back(FailedCell(failed, ended));
  cells.push_back(FailedCell(unsent, count));
  part.table.rows.push_back(std::move(cells));
}

std::string LatencyNote(const RpcPart& part) {
  absl::string_view which = "service times";
  if (part.has_open_loops) {
    which = part.has_closed_loops
                ? "response times of open loops, service times of other RPCs"
                : "response times, from when each RPC was due";
  }
  return absl::StrCat("Latencies are ", which,
                      "; ~ marks percentiles with fewer than ten RPCs beyond "
                      "them.");
}

std::string Rpcs(const TestResult& result, const PageStyle& style) {
  RpcPart part;
  ForEachRpc(result, /*max_intervals=*/1,
             [&](const RpcMeasurements& rpc) { AddRpc(rpc, part); });
  if (part.table.rows.empty()) return "";
  if (!part.has_unsent) DropColumn("unsent", part.table);
  if (!part.has_open_loops) DropColumn("offered", part.table);
  return absl::StrCat("RPCs:\n", RenderTable(part.table, style),
                      Paragraph({}, LatencyNote(part), 2, style));
}

// Of too few RPCs there is none, whether or not some failed, as in the table of
// RPCs.
ColoredText P99Cell(const Report::PeerTable::Row& row,
                    const Report::PairTimes& times, double count) {
  if (!stats::SupportsQuantile(static_cast<uint64_t>(count), 0.99)) return {};
  if (times.has_p99_ns()) return TimeCell(times.p99_ns(), count, 99);
  if (row.has_failed_above_percent() && row.failed_above_percent() <= 99) {
    return FailedTimeCell(count, 99);
  }
  return {};
}

void AddPair(const Report::PeerTable::Row& row, PageTable& table) {
  const Report::Counts& counts = row.counts();
  const auto failed = static_cast<double>(counts.failed());
  const auto ended = static_cast<double>(counts.succeeded()) + failed;
  const Report::PairTimes& times =
      row.response().has_mean_ns() ? row.response() : row.service();
  table.rows.push_back(
      {{base::PrintableLine(
           absl::StrCat(row.client(), " -> ", row.server(), " ", row.rpc()))},
       {base::HumanRate(counts.per_second())},
       MeanCell(times),
       P99Cell(row, times, ended),
       FailedCell(failed, ended)});
}

// Returns a row for each pair, or an empty text if they do not fit the screen.
std::string PairRows(const TestResult& result, int64_t count, int max_lines,
                     const PageStyle& style) {
  if (count > max_lines) return "";
  PageTable table = {{"pair", "achieved", "mean", "p99", "failed"}, {}};
  ListPeers(result, [&](const google::protobuf::Message& row) {
    AddPair(static_cast<const Report::PeerTable::Row&>(row), table);
  });
  const std::string text = RenderTable(table, style);
  const auto lines = std::count(text.begin(), text.end(), '\n');
  return lines <= max_lines ? text : "";
}

std::string Pairs(const TestResult& result, int64_t count,
                  const ResultTextOptions& options, const PageStyle& style) {
  if (count <= 1) return "";
  const std::string rows =
      PairRows(result, count, options.terminal.rows, style);
  if (!rows.empty()) return absl::StrCat("Pairs:\n", rows);
  const std::string left_out = absl::StrCat(
      count, " pairs of client and server",
      options.verbose
          ? ""
          : absl::StrCat(": ", options.flag_of_lists, " lists them"));
  return absl::StrCat("Pairs:\n", Paragraph({}, left_out, 2, style));
}

std::string Summary(const TestResult& result) {
  std::string text = "Test summary:\n";
  for (const std::string& line : result.log_summary()) {
    absl::StrAppend(&text, base::PrintableLine(line), "\n");
  }
  return text;
}

std::string Failures(const TestResult& result, const TestTotals& totals,
                     const PageStyle& style) {
  std::string text;
  for (const std::string& line : FailureLines(result, totals)) {
    text += Paragraph({}, base::PrintableLine(line), 2, style);
  }
  return text.empty() ? "" : absl::StrCat("Failures:\n", text);
}

}  // namespace

std::string TerminalView(const TestResult& result,
                         const ResultTextOptions& options) {
  const PageStyle style = {.columns = options.terminal.columns,
                           .has_color = options.terminal.has_color};
  const TestTotals totals = AddUp(result);
  const std::vector<Check> objectives =
      CheckObjectives(result, options.objectives);
  std::string text =
      absl::StrCat(Headline(result, HeadlineOf(result, totals, objectives),
                            options.name_suffix, style),
                   Findings(result, totals, options.flag_of_lists, style),
                   Objectives(objectives, style));
  const bool has_logs = result.service_logs().instance_logs_size() > 0;
  if (has_logs) {
    absl::StrAppend(&text, Rpcs(result, style), Failures(result, totals, style),
                    Pairs(result, totals.pair_count, options, style));
  }
  if (options.verbose || !has_logs) text += Summary(result);
  return text;
}

std::string ResultText(const TestResult& result,
                       const ResultTextOptions& options) {
  if (options.terminal.is_terminal) return TerminalView(result, options);
  std::string text = "Test summary:\n";
  for (const std::string& line : result.log_summary()) {
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

}  // namespace distbench::report
