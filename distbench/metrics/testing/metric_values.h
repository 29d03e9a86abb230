// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// For tests: what metrics say.

#ifndef DISTBENCH_METRICS_TESTING_METRIC_VALUES_H_
#define DISTBENCH_METRICS_TESTING_METRIC_VALUES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "prometheus/metric_family.h"

namespace distbench::metrics {

// The values of a family of counters or gauges by their labels, joined by
// spaces; empty if there is no such family.
inline std::map<std::string, double> MetricValues(
    const std::vector<prometheus::MetricFamily>& families,
    const std::string& name) {
  std::map<std::string, double> values;
  for (const prometheus::MetricFamily& family : families) {
    if (family.name != name) continue;
    for (const prometheus::ClientMetric& metric : family.metric) {
      std::string labels;
      for (const auto& label : metric.label) {
        absl::StrAppend(&labels, labels.empty() ? "" : " ", label.value);
      }
      values[labels] = family.type == prometheus::MetricType::Gauge
                           ? metric.gauge.value
                           : metric.counter.value;
    }
  }
  return values;
}

}  // namespace distbench::metrics

#endif  // DISTBENCH_METRICS_TESTING_METRIC_VALUES_H_
