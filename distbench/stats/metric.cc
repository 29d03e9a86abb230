#include "distbench/stats/metric.h"

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace distbench {

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
  }
  return "";
}

absl::StatusOr<Metric> ParseMetric(absl::string_view name) {
  if (name == "mean") return Metric{Metric::Kind::kMean};
  if (name == "rate") return Metric{Metric::Kind::kRate};
  if (name == "failures") return Metric{Metric::Kind::kFailures};
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
      "rate and failures"));
}

std::vector<Metric> DefaultMetrics() {
  using Kind = Metric::Kind;
  return {{Kind::kPercentile, 50}, {Kind::kPercentile, 90},
          {Kind::kPercentile, 99}, {Kind::kPercentile, 99.9},
          {Kind::kMean},           {Kind::kRate},
          {Kind::kFailures}};
}

bool HigherIsBetter(const Metric& metric) {
  return metric.kind == Metric::Kind::kRate;
}

bool IsComparedByRatio(const Metric& metric) {
  return metric.kind != Metric::Kind::kFailures;
}

}  // namespace distbench
