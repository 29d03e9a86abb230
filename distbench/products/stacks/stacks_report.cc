#include "distbench/products/stacks/stacks_report.h"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/products/stacks/stacks.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/json/json_values.h"
#include "distbench/report/terminal/human_units.h"
#include "distbench/report/terminal/layout.h"
#include "distbench/report/verdicts/check.h"

namespace distbench::stacks {
namespace {

using Json = nlohmann::ordered_json;

Json StackRowJson(const StackRow& row) {
  Json json = {{"stack", row.stack}, {"runs", row.runs}};
  for (size_t metric = 0; metric < kStackMetricCount; ++metric) {
    const std::optional<StackFigure>& figure = row.figures[metric];
    json[kStackMetrics[metric].name] =
        figure ? Json{{"value", report::FigureJson(figure->value)},
                      {"lower", report::FigureJson(figure->lower)},
                      {"upper", report::FigureJson(figure->upper)}}
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
  Json json = {
      {"test", load.test},
      {"offered_per_second", report::FigureJson(load.offered_per_second)},
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

namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string ValueText(const StackMetric& metric, double value) {
  if (std::isinf(value)) return "failed";
  switch (metric.unit) {
    case StackMetric::Unit::kPerSecond:
      return report::HumanRate(value);
    case StackMetric::Unit::kNs:
      return report::HumanDuration(value);
    case StackMetric::Unit::kShare:
      return absl::StrFormat("%.3g%%", 100 * value);
  }
  return "";
}

std::string FigureText(const StackMetric& metric,
                       const std::optional<StackFigure>& figure) {
  if (!figure) return "-";
  std::string text = ValueText(metric, figure->value);
  if (!figure->lower && !figure->upper) return text;
  const auto bound = [&](const std::optional<double>& value) {
    return value ? ValueText(metric, *value) : "?";
  };
  const std::string lower = bound(figure->lower);
  const std::string upper = bound(figure->upper);
  if (lower == text && upper == text) return text;
  return absl::StrCat(text, " (", lower, " to ", upper, ")");
}

// The titles, then a row for each stack, without metrics that no stack has.
Rows RowsOf(const StackLoad& load) {
  Rows rows = {{"stack", "runs"}};
  for (const StackRow& row : load.rows) {
    rows.push_back({row.stack, absl::StrCat(row.runs)});
  }
  for (size_t metric = 0; metric < kStackMetricCount; ++metric) {
    bool is_known = false;
    for (const StackRow& row : load.rows) {
      is_known |= row.figures[metric].has_value();
    }
    if (!is_known) continue;
    rows[0].push_back(kStackMetrics[metric].title);
    for (size_t i = 0; i < load.rows.size(); ++i) {
      rows[i + 1].push_back(
          FigureText(kStackMetrics[metric], load.rows[i].figures[metric]));
    }
  }
  return rows;
}

std::string StudyTitle(const StackStudy& study) {
  return absl::StrCat("Stacks: ", absl::StrJoin(study.stacks, ", "), "; RPC ",
                      study.rpc, ", latency is ",
                      study.has_response_times ? "response" : "service",
                      " time");
}

std::string LoadTitle(const StackLoad& load) {
  return absl::StrCat(
      "As ", load.test,
      load.offered_per_second
          ? ", offered " + report::HumanRate(*load.offered_per_second)
          : "");
}

constexpr char kExplanation[] =
    "Figures are those of a run, with the 95% confidence interval of "
    "percentiles, or the median of several runs with their range. CPU is that "
    "of the instances' processes from start to end, polling included.";

std::string TextTable(const Rows& rows) {
  report::PageTable table = {rows.front(), {}};
  for (size_t i = 1; i < rows.size(); ++i) {
    auto& cells = table.rows.emplace_back();
    for (const std::string& cell : rows[i]) {
      cells.push_back({report::Visible(cell)});
    }
  }
  return report::RenderTable(table, report::kUnbroken);
}

// Documents of one format.
class Writer {
 public:
  explicit Writer(StacksFormat format)
      : is_markdown_(format == StacksFormat::kMarkdown) {}

  void Heading(const char* mark, const std::string& text) {
    absl::StrAppend(&document_, is_markdown_ ? mark : "", Escaped(text), "\n",
                    is_markdown_ ? "\n" : "");
  }

  void Table(const Rows& rows) {
    absl::StrAppend(
        &document_,
        is_markdown_ ? report::MarkdownTable(rows) : TextTable(rows), "\n");
  }

  void Lines(const std::vector<std::string>& lines, const char* before = "") {
    for (const std::string& line : lines) {
      absl::StrAppend(&document_, is_markdown_ ? "- " : "  ", before,
                      Escaped(line), "\n");
    }
    if (!lines.empty()) document_ += '\n';
  }

  std::string Take() { return std::move(document_); }

 private:
  std::string Escaped(const std::string& text) const {
    return is_markdown_ ? report::MarkdownText(text) : report::Visible(text);
  }

  const bool is_markdown_;
  std::string document_;
};

}  // namespace

absl::StatusOr<std::string> StacksText(absl::Span<const report::TestRun> runs,
                                       StacksFormat format) {
  const StackComparison comparison = CompareStacks(runs);
  if (comparison.studies.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no stacks to compare: no two valid runs have the same traffic over "
        "different protocol drivers; make such tests with test_builder "
        "'PATTERN:{grpc,tcp}'",
        comparison.omissions.empty() ? "" : "\n",
        absl::StrJoin(comparison.omissions, "\n")));
  }
  Writer writer(format);
  for (const StackStudy& study : comparison.studies) {
    writer.Heading("## ", StudyTitle(study));
    for (const StackLoad& load : study.loads) {
      writer.Heading("### ", LoadTitle(load));
      writer.Table(RowsOf(load));
      writer.Lines(load.sentences);
      writer.Lines(load.notes, "Note: ");
    }
  }
  writer.Lines(comparison.omissions, "Left out: ");
  writer.Heading("", kExplanation);
  return writer.Take();
}

}  // namespace distbench::stacks
