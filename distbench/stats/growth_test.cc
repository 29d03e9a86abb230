// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/growth.h"

#include "gtest/gtest.h"

namespace distbench::stats {
namespace {

TEST(HasRisenTest, IsAStepOrASlope) {
  EXPECT_TRUE(HasRisen({1, 2, 3, 4, 5, 6, 7}));
  EXPECT_TRUE(HasRisen({100, 110, 500, 510}));
}

TEST(HasRisenTest, IsNoFallAndNoSinglePeak) {
  EXPECT_FALSE(HasRisen({7, 6, 5, 4, 3, 2, 1}));
  EXPECT_FALSE(HasRisen({100, 100, 100, 100}));
  EXPECT_FALSE(HasRisen({100, 110, 90, 100, 110, 900}));
}

}  // namespace
}  // namespace distbench::stats
