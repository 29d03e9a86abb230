#include "distbench/report/comparison/metric_text.h"

#include <cmath>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "distbench/report/comparison/noise_floor.h"

namespace distbench::report {
namespace {

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

}  // namespace

// Switches to the next unit when a value would round to 1000.
std::string LatencyText(double ns) {
  if (ns < 999.5) return absl::StrFormat("%.0f ns", ns);
  if (ns < 999.95e3) return absl::StrFormat("%.1f us", ns / 1e3);
  if (ns < 999.995e6) return absl::StrFormat("%.2f ms", ns / 1e6);
  return absl::StrFormat("%.2f s", ns / 1e9);
}

std::string FormatValue(const stats::Metric& metric, double value) {
  switch (metric.kind) {
    case stats::Metric::Kind::kPercentile:
    case stats::Metric::Kind::kMean:
      return LatencyText(value);
    case stats::Metric::Kind::kRate:
    case stats::Metric::Kind::kGoodput:
      return absl::StrFormat("%.1f/s", value);
    case stats::Metric::Kind::kAmplification:
      return absl::StrFormat("%.3f", value);
    case stats::Metric::Kind::kFailures:
    case stats::Metric::Kind::kWasted:
      return absl::StrFormat("%.3f%%", 100 * value);
  }
  return "";
}

std::string FormatChange(const stats::Metric& metric, double change) {
  return stats::IsComparedByRatio(metric)
             ? absl::StrFormat("x%.3f", change)
             : absl::StrFormat("%+.3fpp", 100 * change);
}

std::string FormatInterval(const MetricComparison& comparison) {
  const auto& interval = comparison.change.interval;
  if (!interval) return "-";
  return absl::StrCat(FormatChange(comparison.metric, interval->lower), " to ",
                      FormatChange(comparison.metric, interval->upper));
}

absl::string_view VerdictName(ComparisonVerdict verdict) {
  switch (verdict) {
    case ComparisonVerdict::kBetter:
      return "better";
    case ComparisonVerdict::kWorse:
      return "worse";
    case ComparisonVerdict::kNoDifference:
      return "no difference";
    case ComparisonVerdict::kNotShown:
      return "not shown";
    case ComparisonVerdict::kNotComparable:
      return "not comparable";
  }
  return "";
}

bool IsBeyondNoise(const MetricComparison& comparison) {
  const double noise_floor = *comparison.noise_floor;
  const double change = comparison.change.estimate;
  if (!stats::IsComparedByRatio(comparison.metric)) {
    return std::abs(change) > noise_floor;
  }
  return std::abs(std::log(change)) > std::log1p(noise_floor);
}

std::string VerdictText(const MetricComparison& comparison) {
  const std::string text = JudgementText(comparison);
  if (!comparison.noise_floor) return text;
  return absl::StrCat(text, "; ",
                      IsBeyondNoise(comparison) ? "beyond" : "within",
                      " the noise floor of ",
                      NoiseText(comparison.metric, *comparison.noise_floor));
}

}  // namespace distbench::report
