// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/protocol_versions.h"

#include "gtest/gtest.h"

namespace distbench::base {
namespace {

TEST(WorkTogether, AdjacentVersionsDo) {
  EXPECT_TRUE(WorkTogether(3, 2));
  EXPECT_TRUE(WorkTogether(3, 3));
  EXPECT_TRUE(WorkTogether(3, 4));
  EXPECT_FALSE(WorkTogether(3, 1));
  EXPECT_FALSE(WorkTogether(3, 5));
}

TEST(WorkTogether, WhoSaysNoVersionWorksWithNone) {
  EXPECT_FALSE(WorkTogether(1, 0));
}

}  // namespace
}  // namespace distbench::base
