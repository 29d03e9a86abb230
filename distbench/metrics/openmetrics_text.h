#ifndef DISTBENCH_METRICS_OPENMETRICS_TEXT_H_
#define DISTBENCH_METRICS_OPENMETRICS_TEXT_H_

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

namespace distbench::metrics {

// Returns gauges, counters and histograms in the text format of OpenMetrics
// 1.0, with its end. Names of counters end with "_total". Families without
// metrics are left out.
std::string OpenMetricsText(
    const std::vector<prometheus::MetricFamily>& families);

}  // namespace distbench::metrics

#endif  // DISTBENCH_METRICS_OPENMETRICS_TEXT_H_
