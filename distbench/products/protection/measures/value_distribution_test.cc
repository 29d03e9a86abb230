// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/measures/value_distribution.h"

#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace distbench::protection {
namespace {

TEST(ValueDistributionTest, QuantilesMeanAndDeviationOfKnownValues) {
  // 1 to 100, not in order.
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back(i * 37 % 100 + 1);
  const ValueDistribution distribution(values);
  EXPECT_EQ(distribution.count(), 100);
  EXPECT_EQ(distribution.AtQuantile(0), 1);
  EXPECT_EQ(distribution.AtQuantile(0.01), 2);
  EXPECT_EQ(distribution.AtQuantile(0.5), 51);
  EXPECT_EQ(distribution.AtQuantile(1), 100);
  EXPECT_DOUBLE_EQ(*distribution.mean(), 50.5);
  // n (n + 1) / 12
  EXPECT_NEAR(*distribution.deviation() * *distribution.deviation(),
              100 * 101 / 12.0, 1e-9);
}

TEST(ValueDistributionTest, InfiniteValuesRankAboveAllAndAreInNoMean) {
  const ValueDistribution distribution(
      {ValueDistribution::kInfinite, 1, 3, ValueDistribution::kInfinite});
  EXPECT_EQ(distribution.infinite_count(), 2);
  EXPECT_EQ(distribution.AtQuantile(0.25), 3);
  EXPECT_EQ(distribution.AtQuantile(0.5), ValueDistribution::kInfinite);
  EXPECT_EQ(distribution.mean(), 2);
}

TEST(ValueDistributionTest, FewValuesHaveNoDeviation) {
  EXPECT_EQ(ValueDistribution().mean(), std::nullopt);
  EXPECT_EQ(ValueDistribution({5}).mean(), 5);
  EXPECT_EQ(ValueDistribution({5}).deviation(), std::nullopt);
  EXPECT_EQ(ValueDistribution({ValueDistribution::kInfinite}).mean(),
            std::nullopt);
  EXPECT_EQ(ValueDistribution({5, 5}).deviation(), 0);
}

TEST(ValueDistributionTest, ColumnsAscendForAllValues) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> values(1 + random() % 300);
    for (double& value : values) {
      value = random() % 10 == 0 ? ValueDistribution::kInfinite
                                 : static_cast<double>(random() % 1000);
    }
    const ValueDistribution distribution(values);
    double previous = distribution.AtQuantile(0);
    for (const DistributionColumn& column : kDistributionColumns) {
      EXPECT_GE(distribution.AtQuantile(column.quantile), previous);
      previous = distribution.AtQuantile(column.quantile);
    }
  }
}

}  // namespace
}  // namespace distbench::protection
