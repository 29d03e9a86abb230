#include "distbench/metrics/openmetrics_text.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace distbench::metrics {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Label = ClientMetric::Label;

// The shortest text that reads as the same number.
std::string Number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return nlohmann::json(value).dump();
}

std::string LabelsText(const std::vector<Label>& labels) {
  if (labels.empty()) return "";
  const auto append = [](std::string* text, const Label& label) {
    absl::StrAppend(
        text, label.name, "=\"",
        absl::StrReplaceAll(label.value,
                            {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}}),
        "\"");
  };
  return absl::StrCat("{", absl::StrJoin(labels, ",", append), "}");
}

void AppendSample(const std::string& name, const std::vector<Label>& labels,
                  const std::string& value, std::string& text) {
  absl::StrAppend(&text, name, LabelsText(labels), " ", value, "\n");
}

void AppendHistogram(const std::string& name, const ClientMetric& metric,
                     std::string& text) {
  for (const ClientMetric::Bucket& bucket : metric.histogram.bucket) {
    std::vector<Label> labels = metric.label;
    labels.push_back({"le", Number(bucket.upper_bound)});
    AppendSample(name + "_bucket", labels,
                 absl::StrCat(bucket.cumulative_count), text);
  }
  AppendSample(name + "_count", metric.label,
               absl::StrCat(metric.histogram.sample_count), text);
  AppendSample(name + "_sum", metric.label, Number(metric.histogram.sample_sum),
               text);
}

absl::string_view TypeName(MetricType type) {
  switch (type) {
    case MetricType::Counter:
      return "counter";
    case MetricType::Histogram:
      return "histogram";
    default:
      return "gauge";
  }
}

void AppendFamily(const MetricFamily& family, std::string& text) {
  if (family.metric.empty()) return;
  // The family of a counter is called as its sample, without the suffix.
  const absl::string_view name = absl::StripSuffix(family.name, "_total");
  absl::StrAppend(&text, "# TYPE ", name, " ", TypeName(family.type), "\n");
  if (absl::EndsWith(name, "_seconds")) {
    absl::StrAppend(&text, "# UNIT ", name, " seconds\n");
  }
  absl::StrAppend(&text, "# HELP ", name, " ", family.help, "\n");
  for (const ClientMetric& metric : family.metric) {
    if (family.type == MetricType::Histogram) {
      AppendHistogram(family.name, metric, text);
    } else {
      const bool is_counter = family.type == MetricType::Counter;
      AppendSample(
          family.name, metric.label,
          Number(is_counter ? metric.counter.value : metric.gauge.value), text);
    }
  }
}

}  // namespace

std::string OpenMetricsText(const std::vector<MetricFamily>& families) {
  std::string text;
  for (const MetricFamily& family : families) AppendFamily(family, text);
  return text + "# EOF\n";
}

}  // namespace distbench::metrics
