// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/metrics/openmetrics.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "distbench/base/json.h"

namespace distbench::metrics {

prometheus::MetricFamily Family(const std::string& name,
                                const std::string& help,
                                prometheus::MetricType type) {
  prometheus::MetricFamily family;
  family.name = name;
  family.help = help;
  family.type = type;
  return family;
}

prometheus::ClientMetric& AddMetric(const Labels& labels,
                                    prometheus::MetricFamily& family) {
  prometheus::ClientMetric& metric = family.metric.emplace_back();
  for (const auto& [name, value] : labels) {
    metric.label.push_back({name, base::ValidUtf8(value)});
  }
  return metric;
}

void AddStates(Labels labels, const std::string& label,
               absl::Span<const char* const> states, absl::string_view current,
               prometheus::MetricFamily& family) {
  labels.emplace_back(label, "");
  for (const char* state : states) {
    labels.back().second = state;
    AddMetric(labels, family).gauge.value = current == state ? 1 : 0;
  }
}

prometheus::MetricFamily Gauge(const std::string& name, const std::string& help,
                               double value) {
  auto family = Family(name, help, prometheus::MetricType::Gauge);
  AddMetric({}, family).gauge.value = value;
  return family;
}

prometheus::MetricFamily Counter(const std::string& name,
                                 const std::string& help, double value) {
  auto family = Family(name, help, prometheus::MetricType::Counter);
  AddMetric({}, family).counter.value = value;
  return family;
}

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
