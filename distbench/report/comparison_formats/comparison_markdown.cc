// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "distbench/report/comparison/compare.h"
#include "distbench/report/comparison_formats/comparison_report.h"
#include "distbench/report/verdicts/check.h"

namespace distbench::report {
namespace {

// GitHub takes comments of 65536 characters. Few reports have as many rows.
constexpr int kMaxRows = 60;
constexpr size_t kMaxCellBytes = 200;

// Long cells, such as driver options, are cut off.
std::string Cell(absl::string_view text) {
  return text.size() <= kMaxCellBytes
             ? std::string(text)
             : absl::StrCat(text.substr(0, kMaxCellBytes), " ...");
}

// A table of at most kMaxRows rows.
class Table {
 public:
  explicit Table(std::vector<std::string> columns)
      : rows_({std::move(columns)}) {}

  void Add(std::initializer_list<absl::string_view> cells) {
    if (++row_count_ > kMaxRows) return;
    std::vector<std::string>& row = rows_.emplace_back();
    for (const absl::string_view cell : cells) row.push_back(Cell(cell));
  }

  // Empty if there are no rows.
  std::string text() const {
    if (row_count_ == 0) return "";
    const std::string table = MarkdownTable(rows_);
    if (row_count_ <= kMaxRows) return absl::StrCat(table, "\n");
    return absl::StrCat(table, "\n", row_count_ - kMaxRows,
                        " more rows are in the JSON document.\n\n");
  }

  int rows() const { return row_count_; }

 private:
  std::vector<std::vector<std::string>> rows_;  // the first are the columns
  int row_count_ = 0;
};

// Contents that the reader unfolds; nothing if there are none.
std::string Folded(absl::string_view summary, const std::string& contents) {
  if (contents.empty()) return "";
  return absl::StrCat("<details><summary>", summary, "</summary>\n\n", contents,
                      "</details>\n\n");
}

std::string SideText(absl::string_view name, const ComparisonSide& side) {
  const size_t runs = side.runs.size();
  return absl::StrCat(name, ": ", MarkdownText(side.source), " (", runs,
                      runs == 1 ? " run" : " runs", ")");
}

// Ratios as people write them in comments: "+36.2 %".
std::string ChangeText(const MetricComparison& metric, double change) {
  return IsByRatio(metric) ? absl::StrFormat("%+.1f %%", 100 * (change - 1))
                           : FormatChange(metric, change);
}

std::string IntervalText(const MetricComparison& metric) {
  const auto& interval = metric.change.interval;
  if (!interval) return "-";
  return absl::StrCat(ChangeText(metric, interval->lower), " to ",
                      ChangeText(metric, interval->upper));
}

void AddMetric(const PlacedMetric& placed, Table& table) {
  const MetricComparison& metric = *placed.metric;
  const std::string name = stats::MetricName(metric.metric);
  const std::string rpc = placed.rpc == nullptr ? "-" : placed.rpc->rpc;
  if (metric.verdict == ComparisonVerdict::kNotComparable) {
    table.Add({VerdictText(metric), placed.test->test, rpc, name, "-", "-", "-",
               "-"});
    return;
  }
  table.Add({VerdictText(metric), placed.test->test, rpc, name,
             FormatValue(metric.metric, metric.base),
             FormatValue(metric.metric, metric.next),
             ChangeText(metric, metric.change.estimate), IntervalText(metric)});
}

bool HasChanged(const MetricComparison& metric) {
  return metric.verdict == ComparisonVerdict::kWorse ||
         metric.verdict == ComparisonVerdict::kBetter ||
         metric.verdict == ComparisonVerdict::kDiffers;
}

std::string ChecksTable(const ComparisonReport& report) {
  Table table({"verdict", "test", "condition", "evidence"});
  for (const Check& check : ChecksWorstFirst(report)) {
    table.Add({VerdictName(check.verdict), check.test, check.condition,
               check.evidence});
  }
  return table.text();
}

// Those that have changed, or the others.
Table MetricTable(const std::vector<PlacedMetric>& metrics, bool changed) {
  Table table({"verdict", "test", "RPC", "metric", "base", "new", "change",
               "95 % interval"});
  for (const PlacedMetric& placed : metrics) {
    if (HasChanged(*placed.metric) == changed) AddMetric(placed, table);
  }
  return table;
}

std::string OtherMetrics(const std::vector<PlacedMetric>& metrics) {
  const Table table = MetricTable(metrics, /*changed=*/false);
  return Folded(absl::StrCat("Other metrics: ", table.rows()), table.text());
}

std::string Searches(const CapacityComparisons& capacities) {
  Table table({"verdict", "search", "", "change"});
  for (const CapacityComparison& question : capacities.questions) {
    if (!question.not_comparable.empty()) {
      table.Add({absl::StrCat("not comparable: ", question.not_comparable),
                 question.question, "-", "-"});
    }
    for (const CapacityRatio& ratio : question.ratios) {
      table.Add({VerdictWords(VerdictName(JudgeRatio(ratio, question))),
                 question.question, ratio.name, DescribeRatio(ratio)});
    }
  }
  return table.text();
}

std::string NotCompared(const ComparisonReport& report) {
  Table table({"not compared", "why"});
  for (const TestComparison& test : report.tests) {
    if (test.not_comparable.empty()) continue;
    table.Add({test.test, test.not_comparable});
  }
  return table.text();
}

std::string Distributions(const ComparisonReport& report) {
  Table table({"distribution", "test", "RPC", "p-value", "distance"});
  for (const TestComparison& test : report.tests) {
    for (const RpcComparison& rpc : test.rpcs) {
      const DistributionChange& change = rpc.distribution;
      if (!change.differs()) continue;
      table.Add({"differs", test.test, rpc.rpc,
                 absl::StrFormat("%.2g", *change.p_value),
                 absl::StrFormat("%.1f %%", 100 * change.distance)});
    }
  }
  return table.text();
}

std::string Circumstances(const ComparisonReport& report) {
  Table table({"test", "", "base", "new"});
  for (const TestComparison& test : report.tests) {
    for (const Circumstance& circumstance : test.circumstances) {
      if (!circumstance.differs()) continue;
      table.Add(
          {test.test, circumstance.name,
           circumstance.base.empty() ? "not known" : circumstance.base,
           circumstance.other.empty() ? "not known" : circumstance.other});
    }
  }
  for (const std::string& note : report.capacities.notes) {
    table.Add({"searches", note, "-", "-"});
  }
  return Folded("What else differs between base and new", table.text());
}

std::string Notes(const ComparisonReport& report,
                  const std::vector<std::string>& cautions) {
  Table table({"test", "note"});
  for (const std::string& caution : cautions) table.Add({"-", caution});
  for (const TestComparison& test : report.tests) {
    for (const std::string& note : test.notes) table.Add({test.test, note});
  }
  return Folded("Notes", table.text());
}

}  // namespace

std::string ComparisonMarkdown(const ComparisonReport& report) {
  const Headline headline = HeadlineOf(report);
  const std::vector<PlacedMetric> metrics = MetricsWorstFirst(report);
  return absl::StrCat(
      "**distbench: ", VerdictWords(headline.verdict), ".** ", headline.text,
      "\n\n", SideText("Base", report.base), ", ", SideText("new", report.next),
      ".\n\n", ChecksTable(report), NotCompared(report),
      MetricTable(metrics, /*changed=*/true).text(),
      Searches(report.capacities), Distributions(report), OtherMetrics(metrics),
      Circumstances(report), Notes(report, headline.cautions));
}

}  // namespace distbench::report
