// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/saturating_add.h"

#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace distbench::base {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

TEST(SaturatingAddTest, IsTheNearestNumber) {
  EXPECT_EQ(SaturatingAdd(2, -3), -1);
  EXPECT_EQ(SaturatingAdd(kMost, kLeast), -1);
  EXPECT_EQ(SaturatingAdd(kMost, 1), kMost);
  EXPECT_EQ(SaturatingAdd(kLeast, -1), kLeast);
}

TEST(SaturatingSubtractTest, IsTheNearestNumber) {
  EXPECT_EQ(SaturatingSubtract(2, 3), -1);
  EXPECT_EQ(SaturatingSubtract(kLeast, kLeast), 0);
  EXPECT_EQ(SaturatingSubtract(0, kLeast), kMost);
  EXPECT_EQ(SaturatingSubtract(kMost, -1), kMost);
  EXPECT_EQ(SaturatingSubtract(kLeast, 1), kLeast);
}

TEST(SaturatingMultiplyTest, StopsAtTheLimits) {
  EXPECT_EQ(SaturatingMultiply(-3, 1000), -3000);
  EXPECT_EQ(SaturatingMultiply(kMost / 1000, 1000), kMost / 1000 * 1000);
  EXPECT_EQ(SaturatingMultiply(kMost / 1000 + 1, 1000), kMost);
  EXPECT_EQ(SaturatingMultiply(kMost / 1000 + 1, -1000), kLeast);
  EXPECT_EQ(SaturatingMultiply(kLeast, -1), kMost);
}

}  // namespace
}  // namespace distbench::base
