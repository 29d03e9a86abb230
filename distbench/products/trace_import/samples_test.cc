#include "distbench/products/trace_import/samples.h"

#include <vector>

#include "gtest/gtest.h"

namespace distbench::trace_import {
namespace {

using Values = std::vector<int64_t>;

TEST(SamplesTest, LikeSamplesHaveNoDistance) {
  EXPECT_EQ(RelativeDistance({1, 2, 2, 9}, {1, 2, 2, 9}), 0);
  EXPECT_NEAR(RelativeDistance({1, 3}, {1, 1, 3, 3}), 0, 1e-12);
}

// Kolmogorov's distance of these is 1.
TEST(SamplesTest, RoundingIsNoDistance) {
  EXPECT_LT(RelativeDistance(Values(50, 267'037'000), Values(70, 267'037'001)),
            1e-8);
}

TEST(SamplesTest, TheDistanceIsRelativeToTheFirstMean) {
  EXPECT_NEAR(RelativeDistance({10}, {15, 15}), 0.5, 1e-12);
  EXPECT_NEAR(RelativeDistance({15, 15}, {10}), 1.0 / 3, 1e-12);
  // Quantiles differ by 0, 4, 0 and 4; the means are the same.
  EXPECT_NEAR(RelativeDistance({2, 6, 10, 10}, {2, 2, 10, 14}), 2.0 / 7, 1e-12);
  // The upper third differs by 6, the others do not.
  EXPECT_NEAR(RelativeDistance({2, 2, 8}, {2, 2, 2, 2, 14, 14}), 0.5, 1e-12);
}

TEST(SamplesTest, NothingIsFarFromSomething) {
  EXPECT_EQ(RelativeDistance({0, 0}, {0}), 0);
  EXPECT_EQ(RelativeDistance({0, 0}, {0, 5}), 1);
  EXPECT_EQ(RelativeDistance({7}, {0}), 1);
}

TEST(SamplesTest, QuantilesAreValues) {
  EXPECT_EQ(Quantile({1, 2, 3, 4}, 0.5), 2);
  EXPECT_EQ(Quantile({1, 2, 3, 4}, 0.99), 4);
  EXPECT_EQ(Quantile({}, 0.99), 0);
}

}  // namespace
}  // namespace distbench::trace_import
