#include "distbench/report/comparison/compare.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/report/comparison/metric_text.h"
#include "distbench/report/comparison/verdict_counts.h"

namespace distbench::report {
namespace {

// The width of the column of names.
int NameWidth(const RpcComparison& rpc) {
  size_t width = 8;
  for (const MetricComparison& comparison : rpc.metrics) {
    width = std::max(width, stats::MetricName(comparison.metric).size());
  }
  return static_cast<int>(width);
}

void AppendMetric(const MetricComparison& comparison, int name_width,
                  std::string& text) {
  const std::string name = stats::MetricName(comparison.metric);
  if (comparison.verdict == ComparisonVerdict::kNotComparable) {
    absl::StrAppendFormat(&text, "    %-*s %12s %12s %10s  %-22s %s\n",
                          name_width, name, "-", "-", "-", "-",
                          VerdictText(comparison));
    return;
  }
  absl::StrAppendFormat(
      &text, "    %-*s %12s %12s %10s  %-22s %s\n", name_width, name,
      FormatValue(comparison.metric, comparison.base),
      FormatValue(comparison.metric, comparison.next),
      FormatChange(comparison.metric, comparison.change.estimate),
      FormatInterval(comparison), VerdictText(comparison));
}

void AppendDistribution(const DistributionChange& change, std::string& text) {
  text += "    distribution: ";
  if (!change.p_value) {
    absl::StrAppend(&text, "unknown: ", change.reason, "\n");
    return;
  }
  absl::StrAppendFormat(
      &text,
      "%s (p = %.2g by exchanging runs; quantiles are %.1f%% apart on average)"
      "\n",
      change.differs() ? "differs" : "no difference shown", *change.p_value,
      100 * change.distance);
}

std::string Runs(int count) {
  return absl::StrCat(count, count == 1 ? " run" : " runs");
}

void AppendTest(const TestComparison& test, std::string& text) {
  absl::StrAppend(&text, "Test: ", test.test, " (base: ", Runs(test.base_runs),
                  ", new: ", Runs(test.next_runs), ")\n");
  if (!test.origins.empty()) {
    absl::StrAppend(&text, "  note: ", test.origins, "\n");
  }
  if (!test.not_comparable.empty()) {
    absl::StrAppend(&text, "  not comparable: ", test.not_comparable, "\n");
  }
  for (const std::string& note : test.notes) {
    absl::StrAppend(&text, "  note: ", note, "\n");
  }
  for (const Circumstance& circumstance : test.circumstances) {
    if (!circumstance.differs()) continue;
    absl::StrAppend(
        &text, "  note: ", DescribeCircumstance(circumstance, "new"), "\n");
  }
  for (const RpcComparison& rpc : test.rpcs) {
    absl::StrAppend(&text, "  ", rpc.rpc, ", ", rpc.latency, ":\n");
    const int name_width = NameWidth(rpc);
    absl::StrAppendFormat(
        &text, "    %-*s %12s %12s %10s  %-22s %s\n", name_width, "", "base",
        "new", "change",
        absl::StrFormat("%.0f%% interval", 100 * kCompareConfidence),
        "verdict");
    for (const MetricComparison& comparison : rpc.metrics) {
      AppendMetric(comparison, name_width, text);
    }
    AppendDistribution(rpc.distribution, text);
  }
}

}  // namespace

std::string DescribeComparisons(absl::Span<const TestComparison> comparisons) {
  std::string text;
  for (const TestComparison& test : comparisons) AppendTest(test, text);
  for (const std::string& caution : Cautions(CountVerdicts(comparisons))) {
    absl::StrAppend(&text, caution, "\n");
  }
  return text;
}

}  // namespace distbench::report
