// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/residual_life.h"

#include "distbench/stats/log_histogram.h"
#include "gtest/gtest.h"

namespace distbench::stats {
namespace {

TEST(ResidualLifeTest, OfNoTimesIsNothing) {
  EXPECT_EQ(ResidualAtQuantile(LogHistogram(), 0.99).left, 0);
}

// At a random moment, anything from all to nothing of such a time is left.
TEST(ResidualLifeTest, OfEqualTimesIsUniform) {
  LogHistogram times;
  times.RecordN(1000, 500);
  EXPECT_NEAR(ResidualAtQuantile(times, 0.99).left, 990, 10);
  EXPECT_NEAR(ResidualAtQuantile(times, 0.25).left, 250, 10);
}

// One of a million takes as long as the others together: half of the moments
// are within it.
TEST(ResidualLifeTest, ARareLongTimeIsWhatMostWaitFor) {
  LogHistogram times;
  times.RecordN(1000, 999'999);
  times.Record(1'000'000'000);
  const ResidualLife residual = ResidualAtQuantile(times, 0.75);
  EXPECT_NEAR(residual.left, 5e8, 1e7);
  EXPECT_NEAR(residual.time_share, 0.5, 0.01);
  EXPECT_NEAR(residual.count_share, 1e-6, 1e-8);
}

}  // namespace
}  // namespace distbench::stats
