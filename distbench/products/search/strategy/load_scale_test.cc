// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/search/strategy/load_scale.h"

#include <cmath>
#include <initializer_list>

#include "distbench/products/search/strategy/load_search.h"
#include "gtest/gtest.h"

namespace distbench::search {
namespace {

LoadScale Rates() { return {0.001, 1e9, false, false}; }
LoadScale Counts() { return {1, 1e6, true, false}; }
LoadScale Weights() { return {1, 10'000, true, true}; }

TEST(LoadScaleTest, IsTheLoadItselfWhereTheHighestIsWanted) {
  const LoadScale scale = Rates();
  EXPECT_EQ(scale.HardnessOf(7.5), 7.5);
  EXPECT_EQ(scale.LoadOf(7.5), 7.5);
  EXPECT_EQ(scale.easiest(), 0.001);
  EXPECT_EQ(scale.hardest(), 1e9);
  EXPECT_EQ(scale.NotHarder(7.5), 7.5);
}

TEST(LoadScaleTest, RoundsWholeLoadsTowardsTheEasier) {
  EXPECT_EQ(Counts().NotHarder(7.5), 7);
  EXPECT_EQ(Counts().NotEasier(7.5), 8);
  EXPECT_EQ(Counts().NextEasier(7), 6);
  const LoadScale scale = Weights();
  EXPECT_EQ(scale.LoadOf(scale.NotHarder(1 / 7.5)), 8);
  EXPECT_EQ(scale.LoadOf(scale.NotEasier(1 / 7.5)), 7);
  EXPECT_EQ(scale.LoadOf(scale.NextEasier(scale.HardnessOf(7))), 8);
}

TEST(LoadScaleTest, KeepsWholeLoadsThroughConversions) {
  const LoadScale bytes(1, 1e15, true, true);
  for (double load = 1; load <= 1e15; load = std::floor(load * 1.7) + 1) {
    const double hardness = bytes.HardnessOf(load);
    ASSERT_EQ(bytes.LoadOf(hardness), load);
    ASSERT_EQ(bytes.LoadOf(bytes.NotHarder(hardness)), load);
    ASSERT_EQ(bytes.LoadOf(bytes.NotEasier(hardness)), load);
    ASSERT_EQ(bytes.HardnessOf(bytes.LoadOf(hardness)), hardness);
  }
}

TEST(LoadScaleTest, KnowsNeighbours) {
  const LoadScale scale = Weights();
  const auto are_neighbours = [&](double a, double b) {
    return scale.AreNeighbours(scale.HardnessOf(a), scale.HardnessOf(b));
  };
  EXPECT_TRUE(are_neighbours(3, 2));
  EXPECT_FALSE(are_neighbours(4, 2));
  EXPECT_FALSE(Rates().AreNeighbours(3, 2));
}

TEST(LoadScaleTest, ConvertsProbesAndIntervals) {
  const LoadScale scale = Weights();
  const Probe probe = {.request = {.load = 200}, .achieved_load = 100};
  const Probe hardness = scale.ToHardness(probe);
  EXPECT_EQ(hardness.request.load, 1.0 / 200);
  EXPECT_EQ(hardness.achieved_load, 0.5 / 200);
  EXPECT_EQ(scale.ToLoads(hardness).request.load, 200);
  EXPECT_EQ(scale.ToLoads(hardness).achieved_load, 100);
  const LoadInterval loads = scale.ToLoads(LoadInterval{.max = 1.0 / 50});
  EXPECT_EQ(loads.min, 50);
  EXPECT_FALSE(loads.max.has_value());
}

TEST(AroundAnswerTest, IncludesTheAnswer) {
  const LoadInterval above =
      AroundAnswer({.min = 103, .max = 120}, 100, Rates());
  EXPECT_EQ(above.min, 100);
  EXPECT_EQ(above.max, 120);
  EXPECT_EQ(AroundAnswer({.min = 90, .max = 95}, 100, Rates()).max, 100);
  EXPECT_FALSE(AroundAnswer({}, 100, Rates()).min.has_value());
}

TEST(AroundAnswerTest, WholeLoadsHaveWholeBounds) {
  // A bound from a load that missed excludes that load.
  const LoadInterval neighbours =
      AroundAnswer({.min = 3, .max = 4}, 3, Counts());
  EXPECT_EQ(neighbours.min, 3);
  EXPECT_EQ(neighbours.max, 3);
  const LoadInterval wide = AroundAnswer({.min = 2.7, .max = 5.5}, 3, Counts());
  EXPECT_EQ(wide.min, 2);
  EXPECT_EQ(wide.max, 5);
  const LoadScale scale = Weights();
  const LoadInterval weights = scale.ToLoads(AroundAnswer(
      {.min = 1 / 8.3, .max = 1 / 5.5}, scale.HardnessOf(7), scale));
  EXPECT_EQ(weights.max, 9);
  EXPECT_EQ(weights.min, 6);
}

// A service that needs at least this weight.
Probe Exact(const ProbeRequest& request, double needed) {
  return {.request = request,
          .achieved_load = request.load,
          .excess = std::log(needed / request.load),
          .excess_error = 0.001};
}

SearchResult FindLowest(const SearchOptions& options, double needed) {
  LoadSearch search(options);
  while (search.Next().has_value()) {
    const ProbeRequest request = *search.Next();
    EXPECT_EQ(request.load, std::round(request.load));
    EXPECT_GE(request.load, options.min_load);
    EXPECT_LE(request.load, options.max_load);
    search.Add(Exact(request, needed));
  }
  return search.result();
}

constexpr SearchOptions kWeights = {.initial_load = 100,
                                    .min_load = 1,
                                    .max_load = 10'000,
                                    .is_whole = true,
                                    .finds_lowest = true};

TEST(LowestLoadTest, IsTheFirstWholeNumberThatMeets) {
  for (const double needed : {1.5, 3.2, 8.9, 37.0, 1234.5, 9'000.0}) {
    const SearchResult result = FindLowest(kWeights, needed);
    EXPECT_EQ(result.verdict, SearchVerdict::kConverged) << result.evidence;
    // Neighbours, or within the tolerance if that is wider.
    EXPECT_GE(*result.load, needed);
    EXPECT_LE(*result.load, std::ceil(needed * 1.03));
    EXPECT_LE(*result.interval.min, *result.load);
    EXPECT_GE(*result.interval.max, *result.load);
  }
}

TEST(LowestLoadTest, EndsAtTheBounds) {
  const SearchResult none_needed = FindLowest(kWeights, 0.1);
  EXPECT_EQ(none_needed.verdict, SearchVerdict::kUpperBoundHit);
  EXPECT_EQ(none_needed.load, 1);
  EXPECT_EQ(none_needed.evidence, "even the lowest load allowed, 1, met");
  const SearchResult too_much = FindLowest(kWeights, 20'000);
  EXPECT_EQ(too_much.verdict, SearchVerdict::kObjectiveUnreachable);
  EXPECT_EQ(too_much.evidence,
            "not even the highest load allowed met: 10000 missed the objective "
            "(2 of its limit)");
}

TEST(LowestLoadTest, ShowsTheBracketInLoads) {
  LoadSearch search(kWeights);
  for (int i = 0; i < 3; ++i) search.Add(Exact(*search.Next(), 70));
  EXPECT_EQ(search.met(), 100);
  EXPECT_EQ(search.missed(), 50);
}

}  // namespace
}  // namespace distbench::search
