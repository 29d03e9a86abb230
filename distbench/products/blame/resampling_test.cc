#include "distbench/products/blame/resampling.h"

#include <numeric>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::blame {
namespace {

using ::testing::Each;

std::vector<Multiplicities> DrawsOf(size_t item_count, uint64_t seed) {
  std::vector<Multiplicities> draws;
  VisitDraws(item_count, seed,
             [&](const Multiplicities& drawn) { draws.push_back(drawn); });
  return draws;
}

TEST(VisitDrawsTest, TheFirstHasEachItemOnce) {
  const auto draws = DrawsOf(20, 1);
  EXPECT_THAT(draws[0], Each(1));
  EXPECT_NE(draws[1], draws[0]);
  for (const Multiplicities& drawn : draws) {
    EXPECT_EQ(drawn.size(), 20);
    EXPECT_EQ(std::accumulate(drawn.begin(), drawn.end(), 0), 20);
  }
}

TEST(VisitDrawsTest, AreTheSameForTheSameSeed) {
  EXPECT_EQ(DrawsOf(20, 1), DrawsOf(20, 1));
  EXPECT_NE(DrawsOf(20, 1), DrawsOf(20, 2));
}

TEST(DrawnEstimateTest, LeavesOutTheEnds) {
  std::vector<double> values = {7};
  for (int i = 0; i <= 1'000; ++i) values.push_back(1'000 - i);
  const BlameEstimate estimate = DrawnEstimate(values);
  EXPECT_EQ(estimate.value, 7);
  EXPECT_EQ(estimate.lower, 25);
  EXPECT_EQ(estimate.upper, 975);
}

// Of 400 intervals, 380 should contain the mean; with few and skewed values,
// the bootstrap's are slightly too narrow.
TEST(DrawnEstimateTest, IntervalsContainTheMean) {
  std::mt19937_64 random(1);
  std::exponential_distribution<> draw(1);
  int count = 0;
  for (int i = 0; i < 400; ++i) {
    std::vector<double> values;
    for (int j = 0; j < 40; ++j) values.push_back(draw(random));
    std::vector<double> means;
    VisitDraws(values.size(), i, [&](const Multiplicities& drawn) {
      means.push_back(
          std::inner_product(values.begin(), values.end(), drawn.begin(), 0.0) /
          static_cast<double>(values.size()));
    });
    const BlameEstimate mean = DrawnEstimate(means);
    count += mean.lower <= 1 && 1 <= mean.upper;
  }
  EXPECT_GE(count, 360);
  EXPECT_LE(count, 392);
}

}  // namespace
}  // namespace distbench::blame
