// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/percentile_curve.h"

#include <cstdint>
#include <vector>

#include "distbench/stats/log_histogram.h"
#include "gtest/gtest.h"

namespace distbench::stats {
namespace {

TEST(PercentileCurveTest, EmptyHistogramHasNone) {
  EXPECT_TRUE(PercentileCurve(LogHistogram(), 5).empty());
}

TEST(PercentileCurveTest, OneValueIsOnePoint) {
  LogHistogram histogram;
  histogram.RecordN(1'000'003, 7);
  const std::vector<CurvePoint> curve = PercentileCurve(histogram, 5);
  ASSERT_EQ(curve.size(), 1);
  EXPECT_EQ(curve[0].value, 1'000'003);
  EXPECT_EQ(curve[0].count_at_most, 7);
}

TEST(PercentileCurveTest, PointsAreExactAscendingAndDenseTowardsTheMaximum) {
  LogHistogram histogram;
  constexpr int kCount = 100'000;
  for (int i = 1; i <= kCount; ++i) histogram.Record(i);
  const std::vector<CurvePoint> curve = PercentileCurve(histogram, 5);
  for (size_t i = 0; i < curve.size(); ++i) {
    // i values are at most i, so all counts are known.
    EXPECT_EQ(curve[i].count_at_most, curve[i].value);
    if (i > 0) {
      EXPECT_GT(curve[i].value, curve[i - 1].value);
    }
  }
  EXPECT_EQ(curve.back().value, kCount);
  // 5 points up to the median, 5 more up to 75 %. The values differ by at most
  // 1 %, so no point is missing.
  const auto points_below = [&](double share) {
    return std::count_if(curve.begin(), curve.end(), [&](const auto& point) {
      return point.count_at_most < share * kCount;
    });
  };
  EXPECT_NEAR(points_below(0.5), 6, 1);
  EXPECT_NEAR(points_below(0.75) - points_below(0.5), 5, 1);
}

TEST(PercentileCurveTest, OverflowIsInTheLastPoint) {
  LogHistogram histogram;
  histogram.Record(5);
  histogram.Record(LogHistogram::kMaxValue + 10);
  const std::vector<CurvePoint> curve = PercentileCurve(histogram, 5);
  ASSERT_EQ(curve.size(), 2);
  EXPECT_EQ(curve[0].count_at_most, 1);
  EXPECT_EQ(curve[1].value, LogHistogram::kMaxValue + 10);
  EXPECT_EQ(curve[1].count_at_most, 2);
}

}  // namespace
}  // namespace distbench::stats
