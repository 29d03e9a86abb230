// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/measurements/run_metrics.h"

#include <cmath>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "distbench/base/plugins.h"

namespace distbench::report {

std::vector<RunMetric> MeasureRunMetrics(const TestResult& result) {
  std::vector<RunMetric> all;
  std::set<std::string> names;
  for (const auto& [product, source] : base::Plugins<RunMetricSource>::All()) {
    for (RunMetric& metric : source->measure(result)) {
      // Damaged results may have a name twice, and any numbers.
      if (!names.insert(stats::MetricName(metric.metric)).second) continue;
      if (metric.estimate.ok() && !std::isfinite(metric.estimate->value)) {
        metric.estimate = absl::NotFoundError("its value is not finite");
      }
      all.push_back(std::move(metric));
    }
  }
  return all;
}

}  // namespace distbench::report
