// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/median.h"

#include "gtest/gtest.h"

namespace distbench::stats {
namespace {

TEST(MedianTest, IsTheValueInTheMiddle) {
  EXPECT_EQ(Median({7}), 7);
  EXPECT_EQ(Median({9, -1, 4}), 4);
  EXPECT_EQ(Median({5, 5, 1, 9, 5}), 5);
  EXPECT_EQ(LowMedian({7}), 7);
  EXPECT_EQ(LowMedian({9, -1, 4}), 4);
}

TEST(MedianTest, OfTwoInTheMiddle) {
  EXPECT_EQ(Median({10, 1, 4, 2}), 3);
  EXPECT_EQ(Median({2, 1}), 1.5);
  EXPECT_EQ(LowMedian({10, 1, 4, 2}), 2);
  EXPECT_EQ(LowMedian({2, 1}), 1);
}

}  // namespace
}  // namespace distbench::stats
