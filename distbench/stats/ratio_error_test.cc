#include "distbench/stats/ratio_error.h"

#include <cmath>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace distbench::stats {
namespace {

TEST(ErrorOfRatioTest, IsThatOfTheMeanForEqualBlocks) {
  // Means of 1, 2 and 3, with a standard deviation of 1.
  const BlockAmount blocks[] = {{10, 10}, {20, 10}, {30, 10}};
  EXPECT_NEAR(ErrorOfRatio(blocks), 1 / std::sqrt(3), 1e-12);
}

TEST(ErrorOfRatioTest, BlocksOfEqualRatiosHaveNone) {
  const BlockAmount blocks[] = {{2, 1}, {20, 10}, {200, 100}};
  EXPECT_NEAR(ErrorOfRatio(blocks), 0, 1e-12);
}

TEST(ErrorOfRatioTest, LargeBlocksCountForMore) {
  const BlockAmount small_differs[] = {{10, 1}, {100, 100}, {100, 100}};
  const BlockAmount large_differs[] = {{1, 1}, {1000, 100}, {100, 100}};
  EXPECT_LT(ErrorOfRatio(small_differs), ErrorOfRatio(large_differs));
}

// The standard error of the mean of these blocks, relative to that which takes
// them for independent.
double Inflation(const std::vector<double>& means) {
  std::vector<BlockAmount> blocks;
  double mean = 0;
  for (const double value : means) {
    blocks.push_back({.amount = 10 * value, .count = 10});
    mean += value / means.size();
  }
  double squares = 0;
  for (const double value : means) squares += (value - mean) * (value - mean);
  return ErrorOfRatio(blocks) /
         std::sqrt(squares / (means.size() - 1) / means.size());
}

TEST(ErrorOfRatioTest, BlocksThatDependOnTheOneBeforeMakeItLarger) {
  // Of 11 pairs of neighbours, 8 are alike and 3 are opposite.
  const double measured = (8.0 - 3.0) / 12;
  const double correlation = measured + (1 + 3 * measured) / 12;
  EXPECT_NEAR(Inflation({1, 1, 1, -1, -1, -1, 1, 1, 1, -1, -1, -1}),
              std::sqrt((1 + correlation) / (1 - correlation)), 1e-9);
  // At most that of a correlation of 0.95.
  EXPECT_NEAR(Inflation({1, 1, 1, 1, 1, 1, 9, 9, 9, 9, 9, 9}),
              std::sqrt(1.95 / 0.05), 1e-9);
}

TEST(ErrorOfRatioTest, BlocksThatAlternateDoNotMakeItSmaller) {
  EXPECT_NEAR(Inflation({1, 2, 1, 2, 1, 2, 1, 2, 1, 2}), 1, 1e-9);
}

TEST(ErrorOfRatioTest, FewBlocksDoNotShowDependence) {
  EXPECT_NEAR(Inflation({1, 1, 1, 1, 9, 9, 9, 9, 9}), 1, 1e-9);
}

// In the mean over many series, the error is that of theory: the correlation of
// blocks is 0.5, so the variance of their mean is three times as large.
TEST(ErrorOfRatioTest, IsThatOfAnAutoregression) {
  constexpr double kCorrelation = 0.5;
  constexpr int kBlocks = 30;
  constexpr int kRuns = 2000;
  std::mt19937_64 random(1);
  std::normal_distribution<> noise(0,
                                   std::sqrt(1 - kCorrelation * kCorrelation));
  double state = 0;
  double squares = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<BlockAmount> blocks;
    for (int i = 0; i < kBlocks; ++i) {
      state = kCorrelation * state + noise(random);
      blocks.push_back({.amount = 100 + state, .count = 1});
    }
    squares += std::pow(ErrorOfRatio(blocks), 2) / kRuns;
  }
  EXPECT_NEAR(std::sqrt(squares * kBlocks / 3), 1, 0.2);
}

}  // namespace
}  // namespace distbench::stats
