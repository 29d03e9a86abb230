// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Stands for a product that measures metrics of whole runs: linking it is
// enough.

#ifndef DISTBENCH_REPORT_COMPARISON_TESTING_FAKE_RUN_METRICS_H_
#define DISTBENCH_REPORT_COMPARISON_TESTING_FAKE_RUN_METRICS_H_

#include <string>

#include "distbench/stats/metric.h"
#include "proto/results.pb.h"

namespace distbench::report {

struct FakeRunMetric {
  std::string name;
  double value = 0;
  stats::MetricUnit unit = stats::MetricUnit::kNumber;
  std::string definition = "the query \"up\"";

  // Why there is no value, if there is none.
  std::string problem = {};
  std::string remark = {};
};

// Has the run measure the metric, which Compare() and histories see as
// "metric:NAME".
void AddRunMetric(const FakeRunMetric& metric, TestResult& result);

}  // namespace distbench::report

#endif  // DISTBENCH_REPORT_COMPARISON_TESTING_FAKE_RUN_METRICS_H_
