// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What a figure of a server was in the measured time of a run.

#ifndef DISTBENCH_PRODUCTS_SERVER_METRICS_MEASURED_METRIC_H_
#define DISTBENCH_PRODUCTS_SERVER_METRICS_MEASURED_METRIC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distbench/config/objectives/objective.h"
#include "distbench/report/measurements/measure.h"
#include "distbench/report/measurements/run_metrics.h"
#include "distbench/report/measurements/test_totals.h"
#include "distbench/report/objectives/objectives.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::server_metrics {

// If more of the readings failed than this, the others may not stand for them:
// nothing bounds the mean.
inline constexpr double kMaxFailedShare = 0.1;

// Refers to the result.
struct MeasuredMetric {
  const ServerMetric* entry = nullptr;
  const ServerMetricLog* log = nullptr;  // null: nobody read it
  std::string node = {};                 // that read it

  // Of each value of the log, whether all that is in it lies in the measured
  // time, which begins with the first request after the warm-up and ends with
  // the last answer.
  std::vector<bool> is_judged = {};

  // Those values, in the order of time.
  std::vector<double> judged = {};

  // 0 if nothing was read; at least the readings that failed.
  int64_t reading_count() const;
  double failed_share() const;

  // "3 of 63 readings of the metric cpu failed"; empty if none did.
  std::string FailuresText() const;

  // The mean of the judged values. Its interval comes from the spread between
  // blocks of neighbouring values, each at least as long as a value looks back,
  // as neighbours depend on each other. Without bounds if there are too few
  // blocks, or too many readings failed. NOT_FOUND says why there is no mean.
  absl::StatusOr<report::Estimate> Mean() const;
};

// In the order of the config. Logs whose lists do not fit together, as in
// damaged results, count as not read.
std::vector<MeasuredMetric> MeasureServerMetrics(
    const TestResult& result, const report::TestTotals& totals);
std::vector<MeasuredMetric> MeasureServerMetrics(const TestResult& result);

// The means, for comparisons and histories. A metric of which too many readings
// failed has none.
std::vector<report::RunMetric> MeasureMeans(const TestResult& result);

// Judges an objective on a server metric by its mean. NOT_FOUND if it has none.
absl::StatusOr<report::ObjectiveOutcome> JudgeServerMetric(
    const config::Objective& objective, const TestResult& result,
    const report::TestTotals& totals);

}  // namespace distbench::server_metrics

#endif  // DISTBENCH_PRODUCTS_SERVER_METRICS_MEASURED_METRIC_H_
