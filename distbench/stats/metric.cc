// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/metric.h"

#include <charconv>
#include <cstddef>
#include <iterator>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace distbench::stats {

namespace {

// What follows the name of a metric.
enum class Suffix { kNone, kPercentile, kPercentileOrMean, kName };

struct KindOfMetric {
  absl::string_view name;
  MetricUnit unit;
  Suffix suffix = Suffix::kNone;
};

// In the order of Metric::Kind.
constexpr KindOfMetric kKinds[] = {
    {"", MetricUnit::kNs, Suffix::kPercentile},
    {"mean", MetricUnit::kNs},
    {"rate", MetricUnit::kPerSecond},
    {"failures", MetricUnit::kShare},
    {"goodput", MetricUnit::kPerSecond},
    {"amplification", MetricUnit::kRatio},
    {"wasted", MetricUnit::kShare},
    {"attempt_", MetricUnit::kNs, Suffix::kPercentile},
    {"quorum_", MetricUnit::kNs, Suffix::kPercentile},
    {"first_message_", MetricUnit::kNs, Suffix::kPercentile},
    {"gap_", MetricUnit::kNs, Suffix::kPercentile},
    {"round_trip_", MetricUnit::kNs, Suffix::kPercentile},
    {"cpu", MetricUnit::kShare},
    {"isol_", MetricUnit::kShare, Suffix::kPercentileOrMean},
    {"lat_imp_", MetricUnit::kShare, Suffix::kPercentileOrMean},
    {"metric:", MetricUnit::kNumber, Suffix::kName}};

const KindOfMetric& KindOf(const Metric& metric) {
  return kKinds[static_cast<size_t>(metric.kind)];
}

constexpr absl::string_view kMean = "mean";

// Returns the percentage of a name such as "p99", and 0 of "mean", which is
// nothing where no mean may follow.
std::optional<double> ParseSuffix(absl::string_view text, Suffix suffix) {
  if (suffix == Suffix::kPercentileOrMean && text == kMean) return 0;
  double percent = 0;
  if (absl::ConsumePrefix(&text, "p") && absl::SimpleAtod(text, &percent) &&
      percent > 0 && percent < 100) {
    return percent;
  }
  return std::nullopt;
}

// Returns the shortest text that is read as the same number: six digits would
// make 100 of 99.99999.
std::string ShortestText(double value) {
  char text[32];
  const std::to_chars_result end =
      std::to_chars(std::begin(text), std::end(text), value);
  return std::string(std::begin(text), end.ptr);
}

std::string RightNames(const KindOfMetric& kind) {
  if (kind.name.empty()) {
    return "these are percentiles such as p50 or p99.9, mean, rate, failures, "
           "goodput, amplification and wasted";
  }
  if (kind.suffix == Suffix::kName) {
    return absl::StrCat(kind.name,
                        " is followed by the name of a server_metrics entry");
  }
  return absl::StrCat(
      kind.name, " is followed by a percentile such as p99",
      kind.suffix == Suffix::kPercentileOrMean ? ", or mean" : "");
}

absl::Status NotAMetric(absl::string_view name, const KindOfMetric& kind) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", name, "\" is not a metric: ", RightNames(kind)));
}

}  // namespace

std::string MetricName(const Metric& metric) {
  const KindOfMetric& kind = KindOf(metric);
  if (kind.suffix == Suffix::kNone) return std::string(kind.name);
  if (kind.suffix == Suffix::kName) return absl::StrCat(kind.name, metric.name);
  return IsPercentile(metric)
             ? absl::StrCat(kind.name, "p", ShortestText(metric.percent))
             : absl::StrCat(kind.name, kMean);
}

absl::StatusOr<Metric> ParseMetric(absl::string_view name) {
  // Every name begins with that of percentiles, so that these come last.
  for (size_t i = std::size(kKinds); i-- > 0;) {
    const KindOfMetric& kind = kKinds[i];
    absl::string_view rest = name;
    if (!absl::ConsumePrefix(&rest, kind.name)) continue;
    Metric metric = {static_cast<Metric::Kind>(i)};
    if (kind.suffix == Suffix::kNone) {
      if (rest.empty()) return metric;
      continue;
    }
    if (kind.suffix == Suffix::kName) {
      if (rest.empty()) return NotAMetric(name, kind);
      metric.name = std::string(rest);
      return metric;
    }
    const std::optional<double> percent = ParseSuffix(rest, kind.suffix);
    if (!percent) return NotAMetric(name, kind);
    metric.percent = *percent;
    return metric;
  }
  return NotAMetric(name, kKinds[0]);
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

bool IsPercentile(const Metric& metric) { return metric.percent > 0; }

bool IsLatency(const Metric& metric) {
  return metric.kind == Metric::Kind::kPercentile ||
         metric.kind == Metric::Kind::kMean;
}

bool IsOfStream(const Metric& metric) {
  return metric.kind == Metric::Kind::kFirstMessage ||
         metric.kind == Metric::Kind::kGap ||
         metric.kind == Metric::Kind::kRoundTrip;
}

bool IsIsolation(const Metric& metric) {
  return metric.kind == Metric::Kind::kIsolation ||
         metric.kind == Metric::Kind::kLatencyImpact;
}

bool IsOfRpc(const Metric& metric) {
  return metric.kind != Metric::Kind::kCpu &&
         metric.kind != Metric::Kind::kServerMetric && !IsIsolation(metric);
}

MetricUnit UnitOf(const Metric& metric) {
  return metric.kind == Metric::Kind::kServerMetric ? metric.unit
                                                    : KindOf(metric).unit;
}

absl::string_view UnitName(MetricUnit unit) {
  constexpr absl::string_view kNames[] = {"ns",    "per_second", "ratio",
                                          "share", "number",     "bytes"};
  return kNames[static_cast<size_t>(unit)];
}

bool HasBetter(const Metric& metric) {
  return metric.kind != Metric::Kind::kServerMetric;
}

bool HigherIsBetter(const Metric& metric) {
  if (!HasBetter(metric)) return false;
  return UnitOf(metric) == MetricUnit::kPerSecond ||
         metric.kind == Metric::Kind::kIsolation;
}

bool IsComparedByRatio(const Metric& metric) {
  return UnitOf(metric) != MetricUnit::kShare;
}

}  // namespace distbench::stats
