// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/ratio_error.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "distbench/stats/distributions.h"
#include "distbench/stats/run_interval.h"
#include "gtest/gtest.h"

namespace distbench::stats {
namespace {

constexpr double kConfidence = 0.95;

TEST(HalfWidthOfRatioTest, IsStudentsForTheMeanOfEqualBlocks) {
  // Means of 1, 2 and 3, with a standard deviation of 1; t(0.975, 2) = 4.3027.
  const BlockAmount blocks[] = {{10, 10}, {20, 10}, {30, 10}};
  EXPECT_NEAR(HalfWidthOfRatio(blocks, kConfidence), 4.3027 / std::sqrt(3),
              1e-4);
}

TEST(HalfWidthOfRatioTest, TwoBlocksHaveOneDegreeOfFreedom) {
  // t(0.975, 1) = 12.706.
  const BlockAmount blocks[] = {{10, 10}, {20, 10}};
  EXPECT_NEAR(HalfWidthOfRatio(blocks, kConfidence), 12.706 / 2, 1e-3);
}

TEST(HalfWidthOfRatioTest, BlocksOfEqualRatiosHaveNone) {
  const BlockAmount blocks[] = {{2, 1}, {20, 10}, {200, 100}};
  EXPECT_NEAR(HalfWidthOfRatio(blocks, kConfidence), 0, 1e-12);
}

TEST(HalfWidthOfRatioTest, LargeBlocksCountForMore) {
  const BlockAmount small_differs[] = {{10, 1}, {100, 100}, {100, 100}};
  const BlockAmount large_differs[] = {{1, 1}, {1000, 100}, {100, 100}};
  EXPECT_LT(HalfWidthOfRatio(small_differs, kConfidence),
            HalfWidthOfRatio(large_differs, kConfidence));
}

// Half the width of the interval of the mean of these blocks, relative to that
// which takes them for independent.
double Inflation(const std::vector<double>& means) {
  std::vector<BlockAmount> blocks;
  for (const double value : means) {
    blocks.push_back({.amount = 10 * value, .count = 10});
  }
  const auto independent = IntervalOfMean(means, kConfidence);
  return 2 * HalfWidthOfRatio(blocks, kConfidence) /
         (independent->upper - independent->lower);
}

TEST(HalfWidthOfRatioTest, BlocksThatDependOnTheOneBeforeMakeItLarger) {
  // Of 11 pairs of neighbours, 8 are alike and 3 are opposite.
  const double measured = (8.0 - 3.0) / 12;
  const double correlation = measured + (1 + 3 * measured) / 12;
  const double independent_share = (1 - correlation) / (1 + correlation);
  EXPECT_NEAR(
      Inflation({1, 1, 1, -1, -1, -1, 1, 1, 1, -1, -1, -1}),
      StudentTQuantile(0.975, std::max(3.0, 12 * independent_share - 1)) /
          StudentTQuantile(0.975, 11) / std::sqrt(independent_share),
      1e-9);
  // At most that of a correlation of 0.95.
  EXPECT_NEAR(Inflation({1, 1, 1, 1, 1, 1, 9, 9, 9, 9, 9, 9}),
              StudentTQuantile(0.975, 3) / StudentTQuantile(0.975, 11) /
                  std::sqrt(0.05 / 1.95),
              1e-9);
}

TEST(HalfWidthOfRatioTest, BlocksThatAlternateDoNotMakeItSmaller) {
  EXPECT_NEAR(Inflation({1, 2, 1, 2, 1, 2, 1, 2, 1, 2}), 1, 1e-9);
}

TEST(HalfWidthOfRatioTest, FewBlocksDoNotShowDependence) {
  EXPECT_NEAR(Inflation({1, 1, 1, 1, 9, 9, 9, 9, 9}), 1, 1e-9);
}

// How many of 2,000 intervals contain the mean of blocks of which each has this
// much of the one before it.
int CountContained(double correlation, int size) {
  std::mt19937_64 random(1);
  std::normal_distribution<> noise(0, std::sqrt(1 - correlation * correlation));
  double state = 0;
  int contained = 0;
  for (int run = 0; run < 2000; ++run) {
    std::vector<BlockAmount> blocks;
    for (int i = 0; i < size; ++i) {
      state = correlation * state + noise(random);
      blocks.push_back({.amount = 100 + state, .count = 1});
    }
    const auto [amount, count] = SumOf(blocks);
    contained +=
        std::abs(amount / count - 100) <= HalfWidthOfRatio(blocks, kConfidence);
  }
  return contained;
}

// Ten blocks that depend on each other are too few to tell by how much.
TEST(HalfWidthOfRatioTest, ContainsTheMeanAsOftenAsItSays) {
  // 93 % are 1,860, with a standard error of 11.
  for (const int size : {10, 20, 30}) {
    EXPECT_GT(CountContained(0, size), 1'860) << size;
    EXPECT_LT(CountContained(0, size), 1'980) << size;
  }
  EXPECT_GT(CountContained(0.5, 30), 1'830);
  EXPECT_GT(CountContained(0.5, 10), 1'740);
}

}  // namespace
}  // namespace distbench::stats
