// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/metrics/openmetrics.h"

#include <limits>

#include "gtest/gtest.h"

namespace distbench::metrics {
namespace {

using prometheus::MetricType;

TEST(OpenMetricsTextTest, EndsEvenWithoutMetrics) {
  EXPECT_EQ(OpenMetricsText({Family("a", "none", MetricType::Gauge)}),
            "# EOF\n");
}

TEST(OpenMetricsTextTest, CountersAreCalledWithoutTheirSuffix) {
  EXPECT_EQ(OpenMetricsText({Counter("rpcs_total", "RPCs", 7)}),
            "# TYPE rpcs counter\n"
            "# HELP rpcs RPCs\n"
            "rpcs_total 7.0\n"
            "# EOF\n");
}

TEST(OpenMetricsTextTest, LabelsAreEscapedAndHaveOnlyUtf8) {
  auto family = Family("a", "text", MetricType::Gauge);
  AddMetric({{"name", "a\"b\\c\nd\xff"}}, family).gauge.value =
      std::numeric_limits<double>::infinity();
  EXPECT_EQ(OpenMetricsText({family}),
            "# TYPE a gauge\n"
            "# HELP a text\n"
            "a{name=\"a\\\"b\\\\c\\nd\uFFFD\"} +Inf\n"
            "# EOF\n");
}

TEST(OpenMetricsTextTest, HistogramsHaveBucketsCountAndSum) {
  auto family = Family("time_seconds", "Time", MetricType::Histogram);
  auto& histogram = AddMetric({{"rpc", "a"}}, family).histogram;
  histogram.bucket = {{1, 1e-5}, {2, 1}};
  histogram.bucket.push_back({3, std::numeric_limits<double>::infinity()});
  histogram.sample_count = 3;
  histogram.sample_sum = 0.1;
  EXPECT_EQ(OpenMetricsText({family}),
            "# TYPE time_seconds histogram\n"
            "# UNIT time_seconds seconds\n"
            "# HELP time_seconds Time\n"
            "time_seconds_bucket{rpc=\"a\",le=\"1e-05\"} 1\n"
            "time_seconds_bucket{rpc=\"a\",le=\"1.0\"} 2\n"
            "time_seconds_bucket{rpc=\"a\",le=\"+Inf\"} 3\n"
            "time_seconds_count{rpc=\"a\"} 3\n"
            "time_seconds_sum{rpc=\"a\"} 0.1\n"
            "# EOF\n");
}

TEST(FamiliesTest, OneStateHolds) {
  auto family = Family("verdict", "text", MetricType::Gauge);
  AddStates({{"test", "a"}}, "verdict", {"ok", "failed"}, "failed", family);
  EXPECT_EQ(OpenMetricsText({family}),
            "# TYPE verdict gauge\n"
            "# HELP verdict text\n"
            "verdict{test=\"a\",verdict=\"ok\"} 0.0\n"
            "verdict{test=\"a\",verdict=\"failed\"} 1.0\n"
            "# EOF\n");
}

}  // namespace
}  // namespace distbench::metrics
