// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/distributions.h"

#include <cmath>

#include "gtest/gtest.h"

namespace distbench::stats {
namespace {

// Values from printed tables.
TEST(DistributionsTest, NormalQuantiles) {
  EXPECT_NEAR(NormalQuantile(0.975), 1.959963985, 1e-8);
  EXPECT_NEAR(NormalQuantile(0.5), 0, 1e-12);
  EXPECT_NEAR(NormalQuantile(0.005), -2.575829304, 1e-8);
}

TEST(DistributionsTest, StudentTQuantiles) {
  EXPECT_NEAR(StudentTQuantile(0.975, 1), 12.7062047, 1e-6);
  EXPECT_NEAR(StudentTQuantile(0.975, 4), 2.776445105, 1e-8);
  EXPECT_NEAR(StudentTQuantile(0.95, 10), 1.812461123, 1e-8);
  EXPECT_NEAR(StudentTQuantile(0.025, 29), -2.045229642, 1e-8);
  EXPECT_NEAR(StudentTQuantile(0.975, 1e6), 1.959963985, 1e-4);
  // Between the values for 3 and 4: unequal variances give fractional degrees
  // of freedom.
  EXPECT_NEAR(StudentTQuantile(0.975, 3.5), 2.9384, 1e-2);
  EXPECT_EQ(StudentTQuantile(0.5, 3), 0);
}

double BinomialCdf(int k, int n, double p) {
  double sum = 0;
  for (int i = 0; i <= k; ++i) {
    double term = 1;
    for (int j = 0; j < i; ++j) term *= p * (n - j) / (i - j);
    sum += term * std::pow(1 - p, n - i);
  }
  return sum;
}

TEST(DistributionsTest, BinomialQuantilesAreTheSmallestThatReach) {
  for (const int n : {1, 10, 37, 100}) {
    for (const double p : {0.01, 0.3, 0.5, 0.9, 0.99}) {
      for (const double probability : {0.025, 0.5, 0.975}) {
        const int64_t k = BinomialQuantile(n, p, probability);
        SCOPED_TRACE(testing::Message() << n << " " << p << " " << probability);
        EXPECT_GE(BinomialCdf(k, n, p), probability - 1e-9);
        EXPECT_LT(k == 0 ? 0 : BinomialCdf(k - 1, n, p), probability + 1e-9);
      }
    }
  }
}

// The approximation continues the exact sum.
TEST(DistributionsTest, LargeBinomialsJoinTheExactOnes) {
  const double p = 0.999;
  const int64_t exact = BinomialQuantile(1'000'000, p, 0.975);     // 999
  const int64_t expanded = BinomialQuantile(1'002'000, p, 0.975);  // 1001
  EXPECT_NEAR(static_cast<double>(expanded - exact), 2000 * p, 2);
}

// 16 of the 32 outcomes of five coins have at most two heads: half, exactly.
TEST(DistributionsTest, AProbabilityThatIsReachedExactlyIsReached) {
  EXPECT_EQ(BinomialQuantile(5, 0.5, 0.5), 2);
  EXPECT_EQ(BinomialQuantile(37, 0.5, 0.5), 18);
}

TEST(DistributionsTest, LargeBinomialsAreExactToo) {
  // 1e9 trials of 0.5: the mean and 1.96 standard deviations of 15811.4.
  EXPECT_EQ(BinomialQuantile(1'000'000'000, 0.5, 0.975), 500'030'990);
}

TEST(DistributionsTest, NoTrials) {
  EXPECT_EQ(BinomialQuantile(0, 0.5, 0.975), 0);
}

}  // namespace
}  // namespace distbench::stats
