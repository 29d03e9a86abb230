// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Metrics of whole runs, not of their RPCs, that products measure, such as what
// servers say of themselves. Comparisons and histories take them from here.

#ifndef DISTBENCH_REPORT_MEASUREMENTS_RUN_METRICS_H_
#define DISTBENCH_REPORT_MEASUREMENTS_RUN_METRICS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/report/measurements/measure.h"
#include "distbench/stats/metric.h"
#include "proto/results.pb.h"

namespace distbench::report {

struct RunMetric {
  stats::Metric metric;

  // What the values are of, for users, with their unit: the query "up"
  // (number). Two runs whose texts differ did not measure the same.
  std::string definition;

  // Finite. NOT_FOUND says why no value stands for the run.
  absl::StatusOr<Estimate> estimate;

  // What was missing from the estimate: "3 of 63 readings failed". Empty if
  // nothing was.
  std::string remark = {};
};

// Registered as a base::Plugin<RunMetricSource>, by the name of its product.
struct RunMetricSource {
  // Also of metrics that the run should have and has no value of; none of runs
  // that have nothing to do with the product.
  std::vector<RunMetric> (*measure)(const TestResult& result);
};

// Measures what all products do. No two have the same name.
std::vector<RunMetric> MeasureRunMetrics(const TestResult& result);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_MEASUREMENTS_RUN_METRICS_H_
