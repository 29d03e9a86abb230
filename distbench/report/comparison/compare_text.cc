#include "distbench/report/comparison/compare.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace distbench {
namespace {

// Switches to the next unit when a value would round to 1000.
std::string FormatLatency(double ns) {
  if (ns < 999.5) return absl::StrFormat("%.0f ns", ns);
  if (ns < 999.95e3) return absl::StrFormat("%.1f us", ns / 1e3);
  if (ns < 999.995e6) return absl::StrFormat("%.2f ms", ns / 1e6);
  return absl::StrFormat("%.2f s", ns / 1e9);
}

std::string FormatValue(const Metric& metric, double value) {
  switch (metric.kind) {
    case Metric::Kind::kPercentile:
    case Metric::Kind::kMean:
      return FormatLatency(value);
    case Metric::Kind::kRate:
      return absl::StrFormat("%.1f/s", value);
    case Metric::Kind::kFailures:
      return absl::StrFormat("%.3f%%", 100 * value);
  }
  return "";
}

// Formats a ratio, or a difference of shares in percentage points.
std::string FormatChange(const Metric& metric, double change) {
  return IsComparedByRatio(metric) ? absl::StrFormat("x%.3f", change)
                                   : absl::StrFormat("%+.3fpp", 100 * change);
}

std::string FormatInterval(const MetricComparison& comparison) {
  const auto& interval = comparison.change.interval;
  if (!interval) return "-";
  return absl::StrCat(FormatChange(comparison.metric, interval->lower), " to ",
                      FormatChange(comparison.metric, interval->upper));
}

std::string VerdictText(const MetricComparison& comparison) {
  switch (comparison.verdict) {
    case ComparisonVerdict::kBetter:
      return "better";
    case ComparisonVerdict::kWorse:
      return "worse";
    case ComparisonVerdict::kNoDifference:
      return "no difference shown";
    case ComparisonVerdict::kNotShown:
      return "unknown: a single run has no confidence interval";
    case ComparisonVerdict::kNotComparable:
      return absl::StrCat("not comparable: ", comparison.reason);
  }
  return "";
}

void AppendMetric(const MetricComparison& comparison, std::string& text) {
  const std::string name = MetricName(comparison.metric);
  if (comparison.verdict == ComparisonVerdict::kNotComparable) {
    absl::StrAppendFormat(&text, "    %-8s %12s %12s %10s  %-22s %s\n", name,
                          "-", "-", "-", "-", VerdictText(comparison));
    return;
  }
  absl::StrAppendFormat(
      &text, "    %-8s %12s %12s %10s  %-22s %s\n", name,
      FormatValue(comparison.metric, comparison.base),
      FormatValue(comparison.metric, comparison.next),
      FormatChange(comparison.metric, comparison.change.estimate),
      FormatInterval(comparison), VerdictText(comparison));
}

std::string Runs(int count) {
  return absl::StrCat(count, count == 1 ? " run" : " runs");
}

void AppendTest(const TestComparison& test, std::string& text) {
  absl::StrAppend(&text, "Test: ", test.test, " (base: ", Runs(test.base_runs),
                  ", new: ", Runs(test.next_runs), ")\n");
  if (!test.not_comparable.empty()) {
    absl::StrAppend(&text, "  not comparable: ", test.not_comparable, "\n");
  }
  for (const std::string& note : test.notes) {
    absl::StrAppend(&text, "  note: ", note, "\n");
  }
  for (const RpcComparison& rpc : test.rpcs) {
    absl::StrAppend(&text, "  ", rpc.rpc, ", ", rpc.latency, ":\n");
    absl::StrAppendFormat(
        &text, "    %-8s %12s %12s %10s  %-22s %s\n", "", "base", "new",
        "change", absl::StrFormat("%.0f%% interval", 100 * kCompareConfidence),
        "verdict");
    for (const MetricComparison& comparison : rpc.metrics) {
      AppendMetric(comparison, text);
    }
  }
}

struct Counts {
  int judged = 0;
  int without_interval = 0;
};

Counts CountVerdicts(absl::Span<const TestComparison> comparisons) {
  Counts counts;
  for (const TestComparison& test : comparisons) {
    for (const RpcComparison& rpc : test.rpcs) {
      for (const MetricComparison& comparison : rpc.metrics) {
        if (comparison.verdict == ComparisonVerdict::kNotShown) {
          ++counts.without_interval;
        } else if (comparison.verdict != ComparisonVerdict::kNotComparable) {
          ++counts.judged;
        }
      }
    }
  }
  return counts;
}

}  // namespace

std::string DescribeComparisons(absl::Span<const TestComparison> comparisons) {
  std::string text;
  for (const TestComparison& test : comparisons) AppendTest(test, text);
  const Counts counts = CountVerdicts(comparisons);
  if (counts.judged > 0) {
    absl::StrAppendFormat(
        &text,
        "%d verdicts. If nothing has changed, about one in %.0f says better "
        "or worse by chance.\n",
        counts.judged, 1 / (1 - kCompareConfidence));
  }
  if (counts.without_interval > 0) {
    absl::StrAppend(&text,
                    "Single runs cannot distinguish a change from the usual "
                    "spread between runs: run both with --repeat=5 or more.\n");
  }
  return text;
}

}  // namespace distbench
