#include "distbench/stats/ratio_error.h"

#include <cmath>

#include "gtest/gtest.h"

namespace distbench {
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

}  // namespace
}  // namespace distbench
