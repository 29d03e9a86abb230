// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/activity/shared_cache.h"

#include "gtest/gtest.h"

namespace distbench::activity {
namespace {

TEST(SharedCacheTest, MakesEachValueOnceWhileItIsInUse) {
  SharedCache<int, int> cache;
  int made = 0;
  const auto make = [&made] { return ++made; };
  {
    const auto one = cache.Get(1, make);
    EXPECT_EQ(cache.Get(1, make), one);
    EXPECT_EQ(made, 1);
    EXPECT_NE(cache.Get(2, make), one);
    EXPECT_EQ(made, 2);
  }
  EXPECT_EQ(*cache.Get(1, make), 3);
}

}  // namespace
}  // namespace distbench::activity
