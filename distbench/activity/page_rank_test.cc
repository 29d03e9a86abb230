// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/activity/page_rank.h"

#include <cmath>
#include <numeric>

#include "gtest/gtest.h"

namespace distbench::activity {
namespace {

constexpr PageRankOptions kSmall = {
    .nodes = 50, .degree = 4, .iterations = 20, .seed = 3};

// Follows the definition, with doubles: ranks are pushed along edges.
std::vector<double> NaiveRanks(const PageRankOptions& options) {
  const RandomGraph graph(options.nodes, options.degree, options.seed);
  const auto nodes = static_cast<double>(options.nodes);
  std::vector<double> ranks(options.nodes, 1 / nodes);
  for (int i = 0; i < options.iterations; ++i) {
    std::vector<double> next(options.nodes, (1 - options.damping) / nodes);
    for (int64_t node = 0; node < options.nodes; ++node) {
      for (uint32_t source : graph.SourcesOf(node)) {
        next[node] += options.damping * ranks[source] / options.degree;
      }
    }
    ranks = next;
  }
  return ranks;
}

TEST(RandomGraphTest, EveryNodeHasItsDegree) {
  const RandomGraph graph(1000, 7, /*seed=*/1);
  std::vector<int> edges_from(1000);
  int64_t edges = 0;
  for (int64_t node = 0; node < graph.node_count(); ++node) {
    edges += static_cast<int64_t>(graph.SourcesOf(node).size());
    for (uint32_t source : graph.SourcesOf(node)) ++edges_from[source];
  }
  EXPECT_EQ(edges, 7000);
  EXPECT_EQ(edges_from, std::vector<int>(1000, 7));
}

// The variance of a binomial distribution is nearly its mean.
TEST(RandomGraphTest, TargetsAreUniform) {
  const RandomGraph graph(10'000, 16, /*seed=*/1);
  double sum_of_squares = 0;
  for (int64_t node = 0; node < graph.node_count(); ++node) {
    const double off = static_cast<double>(graph.SourcesOf(node).size()) - 16;
    sum_of_squares += off * off;
  }
  EXPECT_NEAR(sum_of_squares / 10'000, 16, 1.2);
}

TEST(RandomGraphTest, IsSharedByThoseWhoAskForTheSame) {
  const auto one = SharedRandomGraph(10, 2, 1);
  EXPECT_EQ(SharedRandomGraph(10, 2, 1), one);
  EXPECT_NE(SharedRandomGraph(10, 2, 2), one);
}

TEST(PageRankTest, RanksSumToOne) {
  PageRankOptions options = kSmall;
  options.nodes = 5000;
  PageRank page_rank(options);
  DoIteration(page_rank, 0);
  const std::vector<float>& ranks = page_rank.ranks();
  EXPECT_NEAR(std::accumulate(ranks.begin(), ranks.end(), 0.0), 1, 1e-4);
}

TEST(PageRankTest, RanksAreThoseOfTheDefinition) {
  PageRank page_rank(kSmall);
  DoIteration(page_rank, 0);
  const std::vector<double> expected = NaiveRanks(kSmall);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(page_rank.ranks()[i], expected[i], 1e-5 * expected[i]) << i;
  }
}

TEST(PageRankTest, NeitherPartsNorSharingChangeTheResult) {
  PageRank plain(kSmall);
  PageRankOptions options = kSmall;
  options.parallelism = 7;
  options.share_graph = true;
  PageRank parallel(options);
  EXPECT_EQ(DoIteration(plain, 0).checksum, DoIteration(parallel, 0).checksum);
  EXPECT_EQ(plain.ranks(), parallel.ranks());
}

TEST(PageRankTest, ComputesASliceOnly) {
  PageRankOptions options = kSmall;
  options.iterations = 1;
  options.nodes_per_iteration = 10;
  PageRank page_rank(options);
  const std::vector<double> expected = NaiveRanks(options);
  DoIteration(page_rank, 0);
  int computed = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const float rank = page_rank.ranks()[i];
    if (rank == 1.0f / 50) continue;
    ++computed;
    EXPECT_NEAR(rank, expected[i], 1e-5 * expected[i]);
  }
  EXPECT_GT(computed, 5);
  EXPECT_LE(computed, 10);
}

}  // namespace
}  // namespace distbench::activity
