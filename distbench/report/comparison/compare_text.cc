#include "distbench/report/comparison/compare.h"

#include <cmath>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/report/comparison/noise_floor.h"

namespace distbench {
namespace {

std::string FormatValue(const Metric& metric, double value) {
  switch (metric.kind) {
    case Metric::Kind::kPercentile:
    case Metric::Kind::kMean:
      return LatencyText(value);
    case Metric::Kind::kRate:
      return absl::StrFormat("%.1f/s", value);
    case Metric::Kind::kFailures:
      return absl::StrFormat("%.3f%%", 100 * value);
  }
  return "";
}

// Whether the change exceeds the noise floor, a rise by x or a fall by
// x / (1 + x) for ratios.
bool IsBeyondNoise(const MetricComparison& comparison) {
  const double noise_floor = *comparison.noise_floor;
  const double change = comparison.change.estimate;
  if (!IsComparedByRatio(comparison.metric)) {
    return std::abs(change) > noise_floor;
  }
  return std::abs(std::log(change)) > std::log1p(noise_floor);
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

std::string JudgementText(const MetricComparison& comparison) {
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

// The verdict, and the noise floor beside it.
std::string VerdictText(const MetricComparison& comparison) {
  const std::string text = JudgementText(comparison);
  if (!comparison.noise_floor) return text;
  return absl::StrCat(text, "; ",
                      IsBeyondNoise(comparison) ? "beyond" : "within",
                      " the noise floor of ",
                      NoiseText(comparison.metric, *comparison.noise_floor));
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
  if (!test.not_comparable.empty()) {
    absl::StrAppend(&text, "  not comparable: ", test.not_comparable, "\n");
  }
  if (test.look_plan) {
    absl::StrAppend(&text, "  note: repeated until decided, at most ",
                    test.look_plan->last,
                    " times: the bounds of conditions allow for the looks, the "
                    "verdicts of the table do not\n");
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
    AppendDistribution(rpc.distribution, text);
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
      if (rpc.distribution.p_value) ++counts.judged;
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

// Switches to the next unit when a value would round to 1000.
std::string LatencyText(double ns) {
  if (ns < 999.5) return absl::StrFormat("%.0f ns", ns);
  if (ns < 999.95e3) return absl::StrFormat("%.1f us", ns / 1e3);
  if (ns < 999.995e6) return absl::StrFormat("%.2f ms", ns / 1e6);
  return absl::StrFormat("%.2f s", ns / 1e9);
}

std::string DescribeComparisons(absl::Span<const TestComparison> comparisons) {
  std::string text;
  for (const TestComparison& test : comparisons) AppendTest(test, text);
  const Counts counts = CountVerdicts(comparisons);
  if (counts.judged > 0) {
    absl::StrAppendFormat(
        &text,
        "%d verdicts. If nothing has changed, about one in %.0f says better, "
        "worse or differs by chance.\n",
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
