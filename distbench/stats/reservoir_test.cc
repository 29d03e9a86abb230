// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/reservoir.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::stats {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<int> Items(const Reservoir<int>& reservoir) {
  std::vector<int> items;
  for (int64_t i = 0; i < reservoir.size(); ++i) {
    items.push_back(reservoir[i]);
  }
  return items;
}

// The items begin, begin + 1, ... end - 1.
Reservoir<int> Filled(int64_t capacity, uint64_t seed, int begin, int end) {
  Reservoir<int> reservoir(capacity, seed);
  for (int item = begin; item < end; ++item) {
    reservoir.Add(item);
  }
  return reservoir;
}

// Expects that every item was kept about equally often: in `runs` runs with
// probability `kept / seen`, to within five standard deviations.
void ExpectUniform(const std::vector<int>& times_kept, int runs, double kept) {
  const double probability = kept / times_kept.size();
  const double tolerance =
      5 * std::sqrt(runs * probability * (1 - probability));
  for (size_t item = 0; item < times_kept.size(); ++item) {
    EXPECT_NEAR(times_kept[item], runs * probability, tolerance)
        << "item " << item;
  }
}

TEST(ReservoirTest, KeepsEverythingUpToItsCapacity) {
  const Reservoir<int> reservoir = Filled(5, 1, 0, 5);
  EXPECT_THAT(Items(reservoir), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(reservoir.seen_count(), 5);
  EXPECT_EQ(reservoir.dropped_count(), 0);
}

TEST(ReservoirTest, CountsWhatItDrops) {
  const Reservoir<int> reservoir = Filled(5, 1, 0, 100);
  EXPECT_EQ(reservoir.size(), 5);
  EXPECT_EQ(reservoir.seen_count(), 100);
  EXPECT_EQ(reservoir.dropped_count(), 95);
}

TEST(ReservoirTest, WithoutCapacityDropsEverything) {
  Reservoir<int> reservoir = Filled(0, 1, 0, 10);
  reservoir.Merge(Filled(0, 2, 0, 5));
  EXPECT_THAT(Items(reservoir), IsEmpty());
  EXPECT_EQ(reservoir.dropped_count(), 15);
}

TEST(ReservoirTest, HoldsManyItems) {
  constexpr int kCount = 10'000;
  const Reservoir<int> reservoir = Filled(kCount, 1, 0, kCount);
  for (int i = 0; i < kCount; ++i) {
    ASSERT_EQ(reservoir[i], i);
  }
}

TEST(ReservoirTest, IsReproducible) {
  const std::vector<int> items = Items(Filled(10, 42, 0, 1'000));
  EXPECT_EQ(items, Items(Filled(10, 42, 0, 1'000)));
  EXPECT_NE(items, Items(Filled(10, 43, 0, 1'000)));
}

TEST(ReservoirTest, ClearForgetsItems) {
  Reservoir<int> reservoir = Filled(5, 1, 0, 100);
  reservoir.Clear();
  EXPECT_THAT(Items(reservoir), IsEmpty());
  EXPECT_EQ(reservoir.dropped_count(), 0);
  for (int item : {7, 8}) {
    reservoir.Add(item);
  }
  EXPECT_THAT(Items(reservoir), ElementsAre(7, 8));
}

TEST(ReservoirTest, KeepsItemsWithEqualProbability) {
  constexpr int kRuns = 20'000;
  std::vector<int> times_kept(40);
  for (int run = 0; run < kRuns; ++run) {
    for (int item : Items(Filled(8, run, 0, 40))) {
      ++times_kept[item];
    }
  }
  ExpectUniform(times_kept, kRuns, 8);
}

TEST(ReservoirTest, MergeKeepsEverythingThatFits) {
  Reservoir<int> reservoir = Filled(10, 1, 0, 3);
  reservoir.Merge(Filled(10, 2, 3, 7));
  EXPECT_THAT(Items(reservoir), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_EQ(reservoir.seen_count(), 7);
}

struct MergeSizes {
  int first;
  int second;
};

class ReservoirMergeTest : public testing::TestWithParam<MergeSizes> {};

TEST_P(ReservoirMergeTest, KeepsItemsOfBothWithEqualProbability) {
  constexpr int kRuns = 20'000;
  const auto [first, second] = GetParam();
  std::vector<int> times_kept(first + second);
  for (int run = 0; run < kRuns; ++run) {
    Reservoir<int> reservoir = Filled(8, 2 * run, 0, first);
    reservoir.Merge(Filled(8, 2 * run + 1, first, first + second));
    ASSERT_EQ(reservoir.size(), 8);
    ASSERT_EQ(reservoir.seen_count(), first + second);
    for (int item : Items(reservoir)) {
      ++times_kept[item];
    }
  }
  ExpectUniform(times_kept, kRuns, 8);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, ReservoirMergeTest,
    testing::Values(MergeSizes{5, 6},    // both complete, together too many
                    MergeSizes{30, 3},   // one complete
                    MergeSizes{3, 30},   //
                    MergeSizes{0, 20},   // one empty
                    MergeSizes{40, 15})  // neither complete
);

TEST(ReservoirTest, MergedReservoirGoesOnUniformly) {
  constexpr int kRuns = 20'000;
  std::vector<int> times_kept(40);
  for (int run = 0; run < kRuns; ++run) {
    Reservoir<int> reservoir = Filled(8, 2 * run, 0, 12);
    reservoir.Merge(Filled(8, 2 * run + 1, 12, 25));
    for (int item = 25; item < 40; ++item) {
      reservoir.Add(item);
    }
    for (int item : Items(reservoir)) {
      ++times_kept[item];
    }
  }
  ExpectUniform(times_kept, kRuns, 8);
}

}  // namespace
}  // namespace distbench::stats
