#include "distbench/stats/metric.h"

#include <cstddef>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace distbench::stats {

namespace {

struct KindOfMetric {
  absl::string_view name;
  MetricUnit unit;
};

// In the order of Metric::Kind.
constexpr KindOfMetric kKinds[] = {
    {"p", MetricUnit::kNs},  // and the percentage
    {"mean", MetricUnit::kNs},
    {"rate", MetricUnit::kPerSecond},
    {"failures", MetricUnit::kShare},
    {"goodput", MetricUnit::kPerSecond},
    {"amplification", MetricUnit::kRatio},
    {"wasted", MetricUnit::kShare}};

const KindOfMetric& KindOf(const Metric& metric) {
  return kKinds[static_cast<size_t>(metric.kind)];
}

}  // namespace

std::string MetricName(const Metric& metric) {
  const std::string name(KindOf(metric).name);
  return metric.kind == Metric::Kind::kPercentile
             ? absl::StrCat(name, metric.percent)
             : name;
}

absl::StatusOr<Metric> ParseMetric(absl::string_view name) {
  for (size_t i = 1; i < std::size(kKinds); ++i) {
    if (name == kKinds[i].name) return Metric{static_cast<Metric::Kind>(i)};
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

MetricUnit UnitOf(const Metric& metric) { return KindOf(metric).unit; }

absl::string_view UnitName(MetricUnit unit) {
  constexpr absl::string_view kNames[] = {"ns", "per_second", "ratio", "share"};
  return kNames[static_cast<size_t>(unit)];
}

bool HigherIsBetter(const Metric& metric) {
  return UnitOf(metric) == MetricUnit::kPerSecond;
}

bool IsComparedByRatio(const Metric& metric) {
  return UnitOf(metric) != MetricUnit::kShare;
}

}  // namespace distbench::stats
