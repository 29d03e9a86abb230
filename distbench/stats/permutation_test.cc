// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/stats/permutation.h"

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace distbench::stats {
namespace {

DistanceMatrix Between(const std::vector<double>& positions) {
  DistanceMatrix distances;
  for (const double from : positions) {
    distances.emplace_back();
    for (const double to : positions) {
      distances.back().push_back(std::abs(from - to));
    }
  }
  return distances;
}

TEST(PermutationTest, GroupsApartHaveTheSmallestPValue) {
  EXPECT_DOUBLE_EQ(PermutationPValue(Between({1, 2, 3, 11, 12, 13}), 3), 0.1);
  EXPECT_DOUBLE_EQ(PermutationPValue(Between({1, 2, 11, 12, 13}), 2), 0.1);
  EXPECT_DOUBLE_EQ(SmallestPValue(3, 3), 0.1);
  EXPECT_DOUBLE_EQ(SmallestPValue(2, 3), 0.1);
  EXPECT_DOUBLE_EQ(SmallestPValue(4, 4), 2.0 / 70);
  EXPECT_DOUBLE_EQ(SmallestPValue(1, 1), 1);
  EXPECT_DOUBLE_EQ(SmallestPValue(500, 400), 1e-4);
}

TEST(PermutationTest, ManyRunsAreDividedAtRandom) {
  std::vector<double> positions;
  for (int i = 0; i < 20; ++i) positions.push_back(i + (i < 10 ? 0 : 100));
  EXPECT_DOUBLE_EQ(PermutationPValue(Between(positions), 10), 1e-4);
}

TEST(PermutationTest, EqualRunsAreNoEvidence) {
  EXPECT_DOUBLE_EQ(PermutationPValue(Between({7, 7, 7, 7, 7, 7}), 3), 1);
  EXPECT_DOUBLE_EQ(PermutationPValue(Between({7, 7}), 1), 1);
}

// One group within the other: the means are equal, the populations are not.
TEST(PermutationTest, ADifferenceInSpreadIsFound) {
  EXPECT_LT(
      PermutationPValue(
          Between({-1, -.5, -.2, .2, .5, 1, -40, -35, -30, 30, 35, 40}), 6),
      0.05);
}

TEST(PermutationTest, EqualGroupsAreToldApartAtMostAsOftenAsPromised) {
  constexpr int kTrials = 2000;
  for (const size_t first_size : {4u, 2u}) {
    std::mt19937_64 random(8);
    std::lognormal_distribution<double> position(0, 1);
    int found = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> positions(8);
      for (double& p : positions) p = position(random);
      found += PermutationPValue(Between(positions), first_size) <= 0.05;
    }
    // Of 70 or 28 divisions, 2 to 3 or 1 are enough. 4 standard errors.
    EXPECT_LE(found, 0.05 * kTrials + 39) << first_size;
    EXPECT_GE(found, 0.02 * kTrials) << first_size;
  }
}

}  // namespace
}  // namespace distbench::stats
