#include "distbench/report/terminal/terminal_view.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "distbench/base/time_units.h"
#include "distbench/report/derived/derive.h"
#include "distbench/report/derived/table_rows.h"
#include "distbench/report/measurements/rpc_measurements.h"
#include "distbench/report/measurements/test_run.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/objectives/check_objectives.h"
#include "distbench/report/parts/text_part.h"
#include "distbench/report/terminal/human_units.h"
#include "distbench/report/text/text_summary_sections.h"
#include "distbench/report/verdicts/check.h"
#include "google/protobuf/message.h"
#include "proto/report.pb.h"

namespace distbench::report {

void DropColumn(absl::string_view title, PageTable& table) {
  const auto found = std::find(table.titles.begin(), table.titles.end(), title);
  if (found == table.titles.end()) return;
  const auto position = found - table.titles.begin();
  table.titles.erase(found);
  for (auto& row : table.rows) row.erase(row.begin() + position);
}

namespace {

constexpr int kLabelWidth = 13;

Color ColorOf(absl::string_view verdict) {
  if (verdict == "ok") return Color::kGood;
  if (verdict == "note") return Color::kNone;
  return verdict == "warn" ? Color::kWarning : Color::kBad;
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
  return Paragraph({absl::StrCat("  ", label), color}, Visible(text),
                   kLabelWidth, style);
}

std::string Headline(const TestResult& result, const PageStyle& style) {
  const std::string verdict = RunVerdict(result);
  const std::string& name = result.traffic_config().name();
  std::string text = absl::StrCat(
      MarkedName(name.empty() ? "The test" : Visible(name), result), ": ",
      Paint({verdict, ColorOf(verdict)}, style), "\n");
  for (const std::string& line : OpeningLinesOf(result)) {
    text += Paragraph({}, line, 2, style);
  }
  return text;
}

std::string Findings(const TestResult& result, const PageStyle& style) {
  std::string text;
  if (result.run_info().has_failure()) {
    text += Labelled("failed", Color::kBad,
                     absl::StrCat(result.run_info().failure(),
                                  " (what it measured is incomplete)"),
                     style);
  }
  for (const Finding& finding : FindingsBySeverity(result)) {
    const std::string severity = SeverityName(finding.severity());
    const std::string code =
        finding.code().empty() ? "" : absl::StrCat(" (", finding.code(), ")");
    text += Labelled(severity, ColorOf(severity),
                     absl::StrCat(finding.message(), code), style);
  }
  return text;
}

std::string Objectives(const TestResult& result,
                       const TerminalViewOptions& options) {
  std::string text;
  for (const Check& check : CheckObjectives(result, options.objectives)) {
    text += Labelled(VerdictName(check.verdict), ColorOf(check.verdict),
                     absl::StrCat(check.condition, ": ", check.evidence),
                     options.style);
  }
  return text.empty() ? "" : absl::StrCat("Objectives:\n", text);
}

// ---- Tables -----------------------------------------------------------------

constexpr double kShownPercents[] = {50, 95, 99};

// A percentile with fewer requests beyond it is mostly chance.
constexpr double kMinBeyond = 10;

bool IsSupported(double count, double percent) {
  // 1 - 0.9 is not exactly 0.1.
  constexpr double kTolerance = 1e-6;
  return count * (1 - percent / 100) >= kMinBeyond - kTolerance;
}

ColoredText FailedCell(double failed, double count) {
  if (failed == 0) return {"0"};
  return {absl::StrFormat("%.0f (%.3g%%)", failed, 100 * failed / count),
          Color::kBad};
}

constexpr char kFailedLatency[] = "failed";

template <typename Figures>
ColoredText MeanCell(const Figures& figures) {
  return {figures.has_mean_ns() ? HumanDuration(figures.mean_ns()) : ""};
}

ColoredText PercentileCell(const Report::Latency& latency, double percent) {
  for (const Report::Percentile& percentile : latency.percentiles()) {
    if (percentile.percentile() != percent) continue;
    if (percentile.failed()) return {kFailedLatency, Color::kBad};
    return {HumanDuration(static_cast<double>(percentile.value_ns()))};
  }
  return {};
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
void AddRpc(const Report::Rpc& rpc, RpcPart& part) {
  const double seconds = base::ToSeconds(rpc.duration_ns());
  const auto failed = static_cast<double>(rpc.failed_count());
  const auto ended = static_cast<double>(rpc.succeeded_count()) + failed;
  const Report::Offered& load = rpc.offered_load();
  const auto unsent = static_cast<double>(load.unsent_count());
  const bool is_open_loop = rpc.has_offered_load();
  const double count =
      is_open_loop ? static_cast<double>(load.offered_count()) : ended;
  const Report::Latency& latency =
      is_open_loop ? rpc.response_time() : rpc.service_time();
  (is_open_loop ? part.has_open_loops : part.has_closed_loops) = true;
  part.has_unsent |= unsent > 0;
  std::vector<ColoredText> cells = {
      {Visible(rpc.name())},
      {is_open_loop && seconds > 0 ? HumanRate(count / seconds) : ""},
      {HumanRate(rpc.per_second())},
      MeanCell(latency)};
  for (const double percent : kShownPercents) {
    cells.push_back(IsSupported(count, percent)
                        ? PercentileCell(latency, percent)
                        : ColoredText());
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
                      "; percentiles with fewer than ten RPCs beyond them are "
                      "left out.");
}

std::string Rpcs(const TestResult& result, const PageStyle& style) {
  RpcPart part;
  ForEachRpc(result, /*max_intervals=*/1,
             [&](const RpcMeasurements& rpc) { AddRpc(DeriveRpc(rpc), part); });
  if (part.table.rows.empty()) return "";
  if (!part.has_unsent) DropColumn("unsent", part.table);
  if (!part.has_open_loops) DropColumn("offered", part.table);
  return absl::StrCat("RPCs:\n", RenderTable(part.table, style),
                      Paragraph({}, LatencyNote(part), 2, style));
}

ColoredText P99Cell(const Report::PeerTable::Row& row,
                    const Report::PairTimes& times) {
  if (times.has_p99_ns()) {
    return {HumanDuration(static_cast<double>(times.p99_ns()))};
  }
  if (row.has_failed_above_percent() && row.failed_above_percent() <= 99) {
    return {kFailedLatency, Color::kBad};
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
      {{Visible(
           absl::StrCat(row.client(), " -> ", row.server(), " ", row.rpc()))},
       {HumanRate(counts.per_second())},
       MeanCell(times),
       IsSupported(ended, 99) ? P99Cell(row, times) : ColoredText(),
       FailedCell(failed, ended)});
}

// Returns a row for each pair, or an empty text if they do not fit the screen.
std::string PairRows(const TestResult& result, int64_t count,
                     const TerminalViewOptions& options) {
  if (count > options.rows) return "";
  PageTable table = {{"pair", "achieved", "mean", "p99", "failed"}, {}};
  ListPeers(result, [&](const google::protobuf::Message& row) {
    AddPair(static_cast<const Report::PeerTable::Row&>(row), table);
  });
  const std::string text = RenderTable(table, options.style);
  const auto lines = std::count(text.begin(), text.end(), '\n');
  return lines <= options.rows ? text : "";
}

std::string Pairs(const TestResult& result, int64_t count,
                  const TerminalViewOptions& options) {
  if (count <= 1) return "";
  const std::string rows = PairRows(result, count, options);
  if (!rows.empty()) return absl::StrCat("Pairs:\n", rows);
  const std::string left_out =
      absl::StrCat(count, " pairs of client and server",
                   options.verbose ? "" : ": --verbose lists them");
  return absl::StrCat("Pairs:\n", Paragraph({}, left_out, 2, options.style));
}

std::string Summary(const TestResult& result) {
  std::string text = "Test summary:\n";
  for (const std::string& line : result.log_summary()) {
    absl::StrAppend(&text, Visible(line), "\n");
  }
  return text;
}

std::string Failures(const TestResult& result, const TestTotals& totals,
                     const PageStyle& style) {
  std::string text;
  for (const std::string& line : FailureLines(result, totals)) {
    text += Paragraph({}, Visible(line), 2, style);
  }
  return text.empty() ? "" : absl::StrCat("Failures:\n", text);
}

}  // namespace

std::string TerminalView(const TestResult& result,
                         const TerminalViewOptions& options) {
  std::string text = absl::StrCat(Headline(result, options.style),
                                  Findings(result, options.style),
                                  Objectives(result, options));
  const bool has_logs = result.service_logs().instance_logs_size() > 0;
  if (has_logs) {
    const TestTotals totals = AddUp(result);
    absl::StrAppend(&text, Rpcs(result, options.style),
                    Failures(result, totals, options.style),
                    Pairs(result, totals.pair_count, options));
  }
  if (options.verbose || !has_logs) text += Summary(result);
  return text;
}

std::string ResultText(const TestResult& result,
                       const ResultTextOptions& options) {
  const base::Terminal& terminal = options.terminal;
  if (terminal.is_terminal) {
    return TerminalView(result, {.style = {.columns = terminal.columns,
                                           .has_color = terminal.has_color},
                                 .rows = terminal.rows,
                                 .verbose = options.verbose,
                                 .objectives = options.objectives});
  }
  std::string text = "Test summary:\n";
  for (const std::string& line : result.log_summary()) {
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

}  // namespace distbench::report
