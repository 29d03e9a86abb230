// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/metric.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::stats {
namespace {

using ::testing::HasSubstr;

TEST(MetricTest, NamesAreReadAsTheyAreWritten) {
  for (const char* name : {"p50",
                           "p99.9",
                           "p99.99999",
                           "p0.0123456789",
                           "gap_p99.9999999",
                           "mean",
                           "rate",
                           "failures",
                           "goodput",
                           "amplification",
                           "wasted",
                           "attempt_p99",
                           "quorum_p99.9",
                           "first_message_p50",
                           "gap_p90",
                           "round_trip_p99",
                           "cpu",
                           "metric:cpu",
                           "metric:a.b_c-1",
                           "isol_p5",
                           "isol_mean",
                           "lat_imp_p95",
                           "lat_imp_mean"}) {
    const absl::StatusOr<Metric> metric = ParseMetric(name);
    ASSERT_TRUE(metric.ok()) << metric.status();
    EXPECT_EQ(MetricName(*metric), name);
  }
  EXPECT_EQ(*ParseMetric("isol_p05"), *ParseMetric("isol_p5"));
}

TEST(MetricTest, SaysWhatIsNoMetric) {
  for (const char* name :
       {"", "p", "p0", "p100", "99", "meanest", "rate_p99", "q50", "gap_",
        "gap_mean", "cpu_p99", "isol_rate", "metric:"}) {
    EXPECT_THAT(std::string(ParseMetric(name).status().message()),
                HasSubstr("is not a metric"))
        << name;
  }
  EXPECT_THAT(std::string(ParseMetric("gap_mean").status().message()),
              HasSubstr("gap_ is followed by a percentile such as p99"));
  EXPECT_THAT(std::string(ParseMetric("isol_max").status().message()),
              HasSubstr("a percentile such as p99, or mean"));
}

TEST(MetricTest, KnowsWhatIsBetterAndWhatIsCompared) {
  EXPECT_TRUE(HigherIsBetter(*ParseMetric("goodput")));
  EXPECT_TRUE(HigherIsBetter(*ParseMetric("isol_p05")));
  EXPECT_FALSE(HigherIsBetter(*ParseMetric("lat_imp_p95")));
  EXPECT_FALSE(IsComparedByRatio(*ParseMetric("wasted")));
  EXPECT_TRUE(IsComparedByRatio(*ParseMetric("gap_p99")));
  EXPECT_FALSE(IsOfRpc(*ParseMetric("cpu")));
  EXPECT_FALSE(IsOfRpc(*ParseMetric("isol_mean")));
  EXPECT_TRUE(IsOfRpc(*ParseMetric("quorum_p99")));
  EXPECT_TRUE(HasBetter(*ParseMetric("cpu")));
}

TEST(MetricTest, ServerMetricsAreWhatTheTestSays) {
  Metric metric = *ParseMetric("metric:qps");
  EXPECT_FALSE(IsOfRpc(metric));
  EXPECT_EQ(UnitName(UnitOf(metric)), "number");
  metric.unit = MetricUnit::kPerSecond;
  EXPECT_EQ(UnitName(UnitOf(metric)), "per_second");
  EXPECT_FALSE(HasBetter(metric));
  EXPECT_FALSE(HigherIsBetter(metric));
  EXPECT_NE(metric, *ParseMetric("metric:qps"));
  EXPECT_NE(*ParseMetric("metric:a"), *ParseMetric("metric:b"));
}

}  // namespace
}  // namespace distbench::stats
