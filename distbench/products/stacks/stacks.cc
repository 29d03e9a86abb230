#include "distbench/products/stacks/stacks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "distbench/base/human_units.h"
#include "distbench/products/stacks/stack_values.h"
#include "distbench/report/comparison/capacity.h"
#include "distbench/report/comparison/comparability.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/derived/figures.h"
#include "distbench/report/terminal/layout.h"
#include "distbench/report/verdicts/check.h"
#include "google/protobuf/message.h"
#include "google/protobuf/repeated_field.h"

namespace distbench::stacks {
namespace {

using report::ComparisonVerdict;
using Figure = ReportedStacks::Figure;
using Load = ReportedStacks::Load;
using StackRow = ReportedStacks::StackRow;

// The runs of a stack with one traffic, and what they measured by RPC.
struct StackRuns {
  std::string stack;
  std::vector<report::TestRun> runs;
  std::vector<std::map<std::string, StackValues>> values;
};

// All stacks with one traffic. The first is what the others are compared with.
using TrafficStacks = std::vector<StackRuns>;

std::string RunText(const report::TestRun& run) {
  return absl::StrCat(run.name, report::RunNumber(run), " (", run.source, ")");
}

// Infinite values rank above all others.
StackFigure OverRuns(std::vector<StackFigure> figures) {
  if (figures.size() == 1) return figures.front();
  std::sort(figures.begin(), figures.end(),
            [](const StackFigure& a, const StackFigure& b) {
              return a.value < b.value;
            });
  const double upper_median = figures[figures.size() / 2].value;
  const double lower_median = figures[(figures.size() - 1) / 2].value;
  return {std::isinf(upper_median) ? upper_median
                                   : (lower_median + upper_median) / 2,
          figures.front().value, figures.back().value};
}

// The metric in each run; empty if a run does not have it.
std::vector<StackFigure> FiguresOf(const StackRuns& stack,
                                   const std::string& rpc,
                                   const StackMetric& metric) {
  std::vector<StackFigure> figures;
  for (const auto& values : stack.values) {
    const auto found = values.find(rpc);
    if (found == values.end()) return {};
    const auto figure = found->second.figures.find(metric.name);
    if (figure == found->second.figures.end()) return {};
    figures.push_back(figure->second);
  }
  return figures;
}

// The figure that a row has of a metric; null if it has none.
const Figure* FigureOf(const StackRow& row, const StackMetric& metric) {
  const auto* field = row.GetDescriptor()->FindFieldByName(metric.name);
  const auto& reflection = *row.GetReflection();
  if (!reflection.HasField(row, field)) return nullptr;
  return static_cast<const Figure*>(&reflection.GetMessage(row, field));
}

StackRow RowOf(const StackRuns& stack, const std::string& rpc) {
  StackRow row;
  row.set_stack(stack.stack);
  row.set_runs(static_cast<int64_t>(stack.runs.size()));
  for (const StackMetric& metric : kStackMetrics) {
    std::vector<StackFigure> figures = FiguresOf(stack, rpc, metric);
    if (figures.empty()) continue;
    const StackFigure figure = OverRuns(std::move(figures));
    google::protobuf::Message& shown = *row.GetReflection()->MutableMessage(
        &row, row.GetDescriptor()->FindFieldByName(metric.name));
    report::SetFigure(figure.value, "value", "failed", shown);
    report::SetFigure(figure.lower, "lower", "lower_failed", shown);
    report::SetFigure(figure.upper, "upper", "upper_failed", shown);
  }
  return row;
}

// The values of the metric; empty unless all can be compared by ratio.
std::vector<double> ComparableValues(const StackRuns& stack,
                                     const std::string& rpc,
                                     const StackMetric& metric) {
  std::vector<double> values;
  for (const StackFigure& figure : FiguresOf(stack, rpc, metric)) {
    if (!(figure.value > 0) || std::isinf(figure.value)) return {};
    values.push_back(figure.value);
  }
  return values;
}

// How a metric of a stack differs from the first stack's: the ratio of the
// geometric means over the runs, with its interval at kCompareConfidence if
// both have at least two runs. Absent if a run lacks the metric.
std::optional<stats::Difference> RatioOf(const StackRuns& first,
                                         const StackRuns& next,
                                         const std::string& rpc,
                                         const StackMetric& metric) {
  const std::vector<double> base = ComparableValues(first, rpc, metric);
  const std::vector<double> other = ComparableValues(next, rpc, metric);
  if (base.empty() || other.empty()) return std::nullopt;
  return stats::RatioOfMeans(base, other, report::kCompareConfidence);
}

// Collects what is to be said of a stack, and does not say more than is known.
class Sentence {
 public:
  void Add(const StackMetric& metric, ComparisonVerdict verdict,
           const std::optional<stats::Difference>& ratio) {
    const bool is_shown = verdict == ComparisonVerdict::kBetter ||
                          verdict == ComparisonVerdict::kWorse;
    metrics_[is_shown ? ComparisonVerdict::kBetter : verdict].push_back(
        is_shown
            ? absl::StrFormat("%.3g times the %s (%.3g to %.3g)",
                              ratio->estimate, metric.title,
                              ratio->interval->lower, ratio->interval->upper)
            : metric.title);
  }

  std::string TextOf(const std::string& first, const std::string& next) {
    std::vector<std::string> parts;
    const auto add = [&](ComparisonVerdict verdict, const char* before,
                         const char* after) {
      const std::vector<std::string>& metrics = metrics_[verdict];
      if (metrics.empty()) return;
      parts.push_back(
          absl::StrCat(before, absl::StrJoin(metrics, ", "), after));
    };
    add(ComparisonVerdict::kBetter, "", "");
    add(ComparisonVerdict::kNoDifference, "no difference shown: ", "");
    add(ComparisonVerdict::kNotShown, "unknown: ",
        ", because a single run does not tell how runs differ (repeat the "
        "tests, as with run_tests --repeat=5)");
    add(ComparisonVerdict::kNotComparable, "not measured by all runs: ", "");
    return absl::StrCat(next, " compared with ", first, ": ",
                        absl::StrJoin(parts, "; "), ".");
  }

 private:
  // Better and worse are one.
  std::map<ComparisonVerdict, std::vector<std::string>> metrics_;
};

void AddChanges(const StackRuns& first, const StackRuns& next,
                const std::string& rpc, Load& load) {
  Sentence sentence;
  for (const StackMetric& metric : kStackMetrics) {
    if (!metric.is_judged) continue;
    const auto ratio = RatioOf(first, next, rpc, metric);
    const ComparisonVerdict verdict =
        ratio ? report::JudgeChange(
                    *ratio, /*no_change=*/1, report::kLatencyResolution,
                    metric.unit == stats::MetricUnit::kPerSecond)
              : ComparisonVerdict::kNotComparable;
    sentence.Add(metric, verdict, ratio);
    ReportedStacks::StackChange& change = *load.add_changes();
    change.set_stack(next.stack);
    change.set_metric(metric.name);
    change.set_verdict(std::string(report::VerdictName(verdict)));
    report::SetDifference(ratio, "ratio", "", change);
  }
  load.add_sentences(sentence.TextOf(first.stack, next.stack));
}

// What differs beside the drivers: hosts, placement, versions.
void AddNotes(const StackRuns& first, const StackRuns& next, Load& load) {
  const auto known = [](const std::string& value) {
    return value.empty() ? "not known" : value;
  };
  for (const report::Circumstance& circumstance :
       report::CompareCircumstances(first.runs, next.runs)) {
    if (!circumstance.differs() ||
        circumstance.name == report::kDriversCircumstance) {
      continue;
    }
    load.add_notes(
        absl::StrCat("not only the driver differs: ", circumstance.name, ": ",
                     first.stack, " ", known(circumstance.base), ", ",
                     next.stack, " ", known(circumstance.other)));
  }
}

// The words with which all names begin, or the first name. Names of tests have
// their driver in the end.
std::string CommonBeginning(const TrafficStacks& stacks) {
  const std::string& first = stacks.front().runs.front().name;
  std::string common = first;
  for (const StackRuns& stack : stacks) {
    const std::string& name = stack.runs.front().name;
    const auto end =
        std::mismatch(common.begin(), common.end(), name.begin(), name.end());
    common.erase(end.first, common.end());
  }
  const bool splits_word = absl::c_any_of(stacks, [&](const StackRuns& stack) {
    const std::string& name = stack.runs.front().name;
    return name.size() > common.size() &&
           absl::ascii_isalnum(name[common.size()]);
  });
  const auto drop_last = [&](bool is_word) {
    while (!common.empty() && absl::ascii_isalnum(common.back()) == is_word) {
      common.pop_back();
    }
  };
  if (splits_word) drop_last(/*is_word=*/true);
  drop_last(/*is_word=*/false);
  return common.empty() ? first : common;
}

void AddLoad(const TrafficStacks& stacks, const std::string& rpc,
             ReportedStacks::Study& study) {
  const StackRuns& first = stacks.front();
  Load& load = *study.add_loads();
  load.set_test(CommonBeginning(stacks));
  if (const auto& offered = first.values.front().at(rpc).offered_per_second) {
    load.set_offered_per_second(*offered);
  }
  for (const StackRuns& stack : stacks) {
    *load.add_rows() = RowOf(stack, rpc);
    if (&stack == &first) continue;
    AddChanges(first, stack, rpc, load);
    AddNotes(first, stack, load);
  }
}

// Says why the only stack of a traffic has nothing to be compared with.
std::string WhyAlone(const report::RunGroup& alone,
                     absl::Span<const report::RunGroup> stacks) {
  const report::TestRun& run = alone.runs.front();
  for (const report::RunGroup& other : stacks) {
    if (other.key == alone.key || other.runs.empty()) continue;
    return absl::StrCat(
        RunText(run), " is the only one with its traffic; that of ",
        RunText(other.runs.front()), ", over ", other.key,
        ", differs: ", report::TrafficDifference({other.runs.front()}, {run}));
  }
  return absl::StrCat(RunText(run), ": no run of another stack is valid");
}

// Removes the runs that are not valid from their stacks, and says so.
void LeaveOutInvalid(std::vector<report::RunGroup>& stacks,
                     ReportedStacks& comparison) {
  for (report::RunGroup& stack : stacks) {
    std::erase_if(stack.runs, [&](const report::TestRun& run) {
      const std::string why = report::WhyInvalid(run);
      if (why.empty()) return false;
      comparison.add_omissions(absl::StrCat(RunText(run), " ", why));
      return true;
    });
  }
}

TrafficStacks Measured(const std::vector<report::RunGroup>& groups) {
  TrafficStacks stacks;
  for (const report::RunGroup& group : groups) {
    StackRuns& stack = stacks.emplace_back();
    stack.stack = group.key;
    stack.runs = group.runs;
    for (const report::TestRun& run : group.runs) {
      stack.values.push_back(StackValuesOf(*run.result));
    }
  }
  return stacks;
}

// Adds the loads of one traffic to the studies, which are by RPC.
void AddLoads(const TrafficStacks& stacks,
              const std::vector<std::string>& all_stacks,
              std::map<std::string, ReportedStacks::Study>& studies) {
  for (const auto& [rpc, values] : stacks.front().values.front()) {
    const auto [found, is_new] = studies.try_emplace(rpc);
    ReportedStacks::Study& study = found->second;
    if (is_new) {
      study.set_rpc(rpc);
      study.set_latency(values.has_response_times ? "response_time"
                                                  : "service_time");
      study.mutable_stacks()->Assign(all_stacks.begin(), all_stacks.end());
    }
    AddLoad(stacks, rpc, study);
  }
}

}  // namespace

ReportedStacks CompareStacks(absl::Span<const report::TestRun> runs) {
  std::vector<report::TestRun> compared(runs.begin(), runs.end());
  std::erase_if(compared, [](const report::TestRun& run) {
    return report::HasChosenLoad(run) || run.result->has_experiment_cell();
  });
  const std::vector<std::string> names = NameStacks(compared);
  std::map<const TestResult*, std::string> name_of;
  for (size_t i = 0; i < compared.size(); ++i) {
    name_of[compared[i].result] = names[i];
  }
  const auto stack_of = [&](const report::TestRun& run) {
    return name_of.at(run.result);
  };
  std::vector<report::RunGroup> stacks = report::GroupRuns(compared, stack_of);
  ReportedStacks comparison;
  if (stacks.size() < 2) return comparison;

  LeaveOutInvalid(stacks, comparison);
  // Stack by stack, so that these have the same order under every load.
  std::vector<std::string> all_stacks;
  std::vector<report::TestRun> valid;
  for (const report::RunGroup& stack : stacks) {
    all_stacks.push_back(stack.key);
    valid.insert(valid.end(), stack.runs.begin(), stack.runs.end());
  }
  for (const report::RunGroup& work :
       report::GroupRuns(valid, report::WorkText)) {
    std::map<std::string, ReportedStacks::Study> studies;
    for (const report::RunGroup& traffic :
         report::GroupRuns(work.runs, report::TrafficText)) {
      const auto groups = report::GroupRuns(traffic.runs, stack_of);
      if (groups.size() > 1) {
        AddLoads(Measured(groups), all_stacks, studies);
      } else {
        comparison.add_omissions(WhyAlone(groups.front(), stacks));
      }
    }
    for (auto& [rpc, study] : studies) {
      *comparison.add_studies() = std::move(study);
    }
  }
  return comparison;
}

// The comparison for users.

namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string ValueText(const StackMetric& metric, bool has_value, double value,
                      bool failed) {
  if (failed) return "failed";
  if (!has_value) return "?";
  switch (metric.unit) {
    case stats::MetricUnit::kPerSecond:
      return base::HumanRate(value);
    case stats::MetricUnit::kNs:
      return base::HumanDuration(value);
    default:
      return absl::StrFormat("%.3g%%", 100 * value);
  }
}

std::string FigureText(const StackMetric& metric, const Figure* figure) {
  if (figure == nullptr) return "-";
  const std::string text =
      ValueText(metric, figure->has_value(), figure->value(), figure->failed());
  const bool has_lower = figure->has_lower() || figure->lower_failed();
  const bool has_upper = figure->has_upper() || figure->upper_failed();
  if (!has_lower && !has_upper) return text;
  const std::string lower = ValueText(metric, figure->has_lower(),
                                      figure->lower(), figure->lower_failed());
  const std::string upper = ValueText(metric, figure->has_upper(),
                                      figure->upper(), figure->upper_failed());
  if (lower == text && upper == text) return text;
  return absl::StrCat(text, " (", lower, " to ", upper, ")");
}

// The titles, then a row for each stack, without metrics that no stack has.
Rows RowsOf(const Load& load) {
  Rows rows = {{"stack", "runs"}};
  for (const StackRow& row : load.rows()) {
    rows.push_back({row.stack(), absl::StrCat(row.runs())});
  }
  for (const StackMetric& metric : kStackMetrics) {
    if (absl::c_all_of(load.rows(), [&](const StackRow& row) {
          return FigureOf(row, metric) == nullptr;
        })) {
      continue;
    }
    rows[0].push_back(metric.title);
    for (int i = 0; i < load.rows_size(); ++i) {
      rows[i + 1].push_back(FigureText(metric, FigureOf(load.rows(i), metric)));
    }
  }
  return rows;
}

std::string StudyTitle(const ReportedStacks::Study& study) {
  return absl::StrCat(
      "Stacks: ", absl::StrJoin(study.stacks(), ", "), "; RPC ", study.rpc(),
      ", latency is ",
      study.latency() == "response_time" ? "response" : "service", " time");
}

std::string LoadTitle(const Load& load) {
  return absl::StrCat(
      "As ", load.test(),
      load.has_offered_per_second()
          ? ", offered " + base::HumanRate(load.offered_per_second())
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

  void Lines(const google::protobuf::RepeatedPtrField<std::string>& lines,
             const char* before = "") {
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

absl::StatusOr<std::string> StacksText(const ReportedStacks& comparison,
                                       StacksFormat format) {
  if (comparison.studies().empty()) {
    std::string why =
        "no stacks to compare: no two valid runs have the same traffic over "
        "different protocol drivers; make such tests with test_builder "
        "'PATTERN:{grpc,tcp}'";
    for (const std::string& line : comparison.omissions()) {
      absl::StrAppend(&why, "\n", line);
    }
    return absl::InvalidArgumentError(why);
  }
  Writer writer(format);
  for (const ReportedStacks::Study& study : comparison.studies()) {
    writer.Heading("## ", StudyTitle(study));
    for (const Load& load : study.loads()) {
      writer.Heading("### ", LoadTitle(load));
      writer.Table(RowsOf(load));
      writer.Lines(load.sentences());
      writer.Lines(load.notes(), "Note: ");
    }
  }
  writer.Lines(comparison.omissions(), "Left out: ");
  writer.Heading("", kExplanation);
  return writer.Take();
}

}  // namespace distbench::stacks
