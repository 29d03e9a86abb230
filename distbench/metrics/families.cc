#include "distbench/metrics/families.h"

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

}  // namespace distbench::metrics
