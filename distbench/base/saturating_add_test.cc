#include "distbench/base/saturating_add.h"

#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace distbench {
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

}  // namespace
}  // namespace distbench
