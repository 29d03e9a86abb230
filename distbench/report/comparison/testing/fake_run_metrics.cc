// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/report/comparison/testing/fake_run_metrics.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "distbench/base/plugins.h"
#include "distbench/report/measurements/run_metrics.h"

namespace distbench::report {
namespace {

// Metrics are kept in attributes of the test, which are no part of its traffic.
constexpr absl::string_view kPrefix = "run_metric:";
constexpr char kSeparator = '|';

std::vector<RunMetric> MeasureFakes(const TestResult& result) {
  std::vector<RunMetric> metrics;
  for (const auto& [attribute, text] : result.traffic_config().attributes()) {
    absl::string_view name = attribute;
    if (!absl::ConsumePrefix(&name, kPrefix)) continue;
    const std::vector<std::string> parts = absl::StrSplit(text, kSeparator);
    int unit = 0;
    Estimate estimate;
    if (!absl::SimpleAtod(parts[0], &estimate.value) ||
        !absl::SimpleAtoi(parts[1], &unit)) {
      continue;
    }
    RunMetric& metric = metrics.emplace_back(
        RunMetric{.metric = {.kind = stats::Metric::Kind::kServerMetric,
                             .name = std::string(name),
                             .unit = static_cast<stats::MetricUnit>(unit)},
                  .definition = parts[2],
                  .estimate = estimate,
                  .remark = parts[4]});
    if (!parts[3].empty()) metric.estimate = absl::NotFoundError(parts[3]);
  }
  return metrics;
}

const base::Plugin<RunMetricSource> kFakes("fakes",
                                           new RunMetricSource{MeasureFakes});

}  // namespace

void AddRunMetric(const FakeRunMetric& metric, TestResult& result) {
  (*result.mutable_traffic_config()
        ->mutable_attributes())[absl::StrCat(kPrefix, metric.name)] =
      absl::StrCat(metric.value, "|", static_cast<int>(metric.unit), "|",
                   metric.definition, "|", metric.problem, "|", metric.remark);
}

}  // namespace distbench::report
