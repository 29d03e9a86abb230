// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/activity/memory_access.h"

#include <set>

#include "gtest/gtest.h"

namespace distbench::activity {
namespace {

TEST(PointerChaseTest, ThePermutationIsASingleCycle) {
  for (const int64_t count : {1, 2, 3, 64, 1000}) {
    const std::vector<uint64_t> next = RandomCycle(count, /*seed=*/3);
    std::set<uint64_t> visited;
    uint64_t place = 0;
    while (visited.insert(place).second) place = next[place];
    EXPECT_EQ(place, 0u);
    EXPECT_EQ(visited.size(), static_cast<size_t>(count));
  }
}

TEST(PointerChaseTest, TheSeedDecidesTheCycle) {
  EXPECT_EQ(RandomCycle(100, 1), RandomCycle(100, 1));
  EXPECT_NE(RandomCycle(100, 1), RandomCycle(100, 2));
}

// A full cycle visits all lines, wherever it starts.
TEST(PointerChaseTest, FollowsAsManyPointersAsItShall) {
  const auto chase =
      MakePointerChase({.bytes = 64 * 100, .hops = 100, .seed = 1});
  const auto twice =
      MakePointerChase({.bytes = 64 * 100, .hops = 200, .seed = 1});
  constexpr uint64_t kSumOfLines = 99 * 100 / 2;
  EXPECT_EQ(DoIteration(*twice, 7).checksum - DoIteration(*chase, 7).checksum,
            kSumOfLines);
}

TEST(PointerChaseTest, PartsShareTheHops) {
  const auto chase =
      MakePointerChase({.bytes = 64, .hops = 10, .parallelism = 4, .seed = 1});
  EXPECT_EQ(chase->part_count(), 4);
  // With a single line, the result is always 0.
  EXPECT_NE(DoIteration(*chase, 1).checksum, DoIteration(*chase, 2).checksum);
}

}  // namespace
}  // namespace distbench::activity
