#include "distbench/stats/metric.h"

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace distbench::stats {

std::string MetricName(const Metric& metric) {
  switch (metric.kind) {
    case Metric::Kind::kPercentile:
      return absl::StrCat("p", metric.percent);
    case Metric::Kind::kMean:
      return "mean";
    case Metric::Kind::kRate:
      return "rate";
    case Metric::Kind::kFailures:
      return "failures";
    case Metric::Kind::kGoodput:
      return "goodput";
    case Metric::Kind::kAmplification:
      return "amplification";
    case Metric::Kind::kWasted:
      return "wasted";
  }
  return "";
}

absl::StatusOr<Metric> ParseMetric(absl::string_view name) {
  using Kind = Metric::Kind;
  for (const Kind kind :
       {Kind::kMean, Kind::kRate, Kind::kFailures, Kind::kGoodput,
        Kind::kAmplification, Kind::kWasted}) {
    if (name == MetricName({kind})) return Metric{kind};
  }
  absl::string_view digits = name;
  Metric metric = {Metric::Kind::kPercentile};
  if (absl::ConsumePrefix(&digits, "p") &&
      absl::SimpleAtod(digits, &metric.percent) && metric.percent > 0 &&
      metric.percent < 100) {
    return metric;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", name,
      "\" is not a metric: these are percentiles such as p50 or p99.9, mean, "
      "rate, failures, goodput, amplification and wasted"));
}

std::vector<Metric> DefaultMetrics() {
  using Kind = Metric::Kind;
  return {{Kind::kPercentile, 50}, {Kind::kPercentile, 90},
          {Kind::kPercentile, 99}, {Kind::kPercentile, 99.9},
          {Kind::kMean},           {Kind::kRate},
          {Kind::kFailures}};
}

std::vector<Metric> PolicyMetrics() {
  using Kind = Metric::Kind;
  return {{Kind::kGoodput}, {Kind::kAmplification}, {Kind::kWasted}};
}

bool IsPerSecond(const Metric& metric) {
  return metric.kind == Metric::Kind::kRate ||
         metric.kind == Metric::Kind::kGoodput;
}

bool IsShare(const Metric& metric) {
  return metric.kind == Metric::Kind::kFailures ||
         metric.kind == Metric::Kind::kWasted;
}

bool HigherIsBetter(const Metric& metric) { return IsPerSecond(metric); }

bool IsComparedByRatio(const Metric& metric) { return !IsShare(metric); }

}  // namespace distbench::stats
