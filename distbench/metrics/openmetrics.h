// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Metrics as Prometheus knows them, and their text format.

#ifndef DISTBENCH_METRICS_OPENMETRICS_H_
#define DISTBENCH_METRICS_OPENMETRICS_H_

#include <prometheus/metric_family.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace distbench::metrics {

// Metrics as Prometheus knows them: families of one name, with labels.

// Names and values.
using Labels = std::vector<std::pair<std::string, std::string>>;

// Stands for names that have no label of their own, because there are too many.
inline constexpr char kOtherNames[] = "(others)";

// A family without metrics.
prometheus::MetricFamily Family(const std::string& name,
                                const std::string& help,
                                prometheus::MetricType type);

// Adds a metric and returns it, for its value. Bytes of labels that are not
// UTF-8 are replaced, because Prometheus refuses all metrics of a process if
// one has them.
prometheus::ClientMetric& AddMetric(const Labels& labels,
                                    prometheus::MetricFamily& family);

// Adds a metric for each state, whose name the label has: 1 for the current
// state, 0 for the others.
void AddStates(Labels labels, const std::string& label,
               absl::Span<const char* const> states, absl::string_view current,
               prometheus::MetricFamily& family);

// A family of a single metric without labels.
prometheus::MetricFamily Gauge(const std::string& name, const std::string& help,
                               double value);
prometheus::MetricFamily Counter(const std::string& name,
                                 const std::string& help, double value);

// Returns gauges, counters and histograms in the text format of OpenMetrics
// 1.0, with its end. Names of counters end with "_total". Families without
// metrics are left out.
std::string OpenMetricsText(
    const std::vector<prometheus::MetricFamily>& families);

}  // namespace distbench::metrics

#endif  // DISTBENCH_METRICS_OPENMETRICS_H_
