#include "distbench/config/validate/cycles.h"

#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CyclicComponents, AreFound) {
  EXPECT_THAT(CyclicComponents({}), IsEmpty());
  EXPECT_THAT(CyclicComponents({{1, 2}, {2}, {}}), IsEmpty());
  EXPECT_THAT(CyclicComponents({{0}}), ElementsAre(ElementsAre(0)));
  EXPECT_THAT(CyclicComponents({{1}, {2}, {1}, {3}, {0}}),
              ElementsAre(ElementsAre(1, 2), ElementsAre(3)));
  EXPECT_THAT(CyclicComponents({{1}, {2, 3}, {0}, {}}),
              ElementsAre(ElementsAre(0, 1, 2)));
}

TEST(ShortestCycle, BeginsAtTheFirstNode) {
  const Graph graph = {{1}, {2, 3}, {3}, {1, 4}, {0}};
  EXPECT_THAT(ShortestCycle(graph, {0, 1, 2, 3, 4}), ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(ShortestCycle({{0}}, {0}), ElementsAre(0));
}

TEST(CyclicComponents, SurviveLongChains) {
  constexpr int kNodes = 1'000'000;
  Graph graph(kNodes);
  for (int node = 0; node < kNodes; ++node) {
    graph[node] = {(node + 1) % kNodes};
  }
  const auto components = CyclicComponents(graph);
  ASSERT_EQ(components.size(), 1);
  EXPECT_EQ(ShortestCycle(graph, components[0]).size(), kNodes);
}

// Whether each node reaches each other node, computed in the obvious way.
std::vector<std::vector<bool>> Reachability(const Graph& graph) {
  const int count = graph.size();
  std::vector<std::vector<bool>> reaches(count, std::vector<bool>(count));
  for (int node = 0; node < count; ++node) {
    for (const int successor : graph[node]) reaches[node][successor] = true;
  }
  for (int via = 0; via < count; ++via) {
    for (int from = 0; from < count; ++from) {
      for (int to = 0; to < count; ++to) {
        if (reaches[from][via] && reaches[via][to]) reaches[from][to] = true;
      }
    }
  }
  return reaches;
}

TEST(CyclicComponents, AgreeWithReachability) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    const int count = 1 + random() % 10;
    Graph graph(count);
    for (int edge = random() % (2 * count); edge > 0; --edge) {
      graph[random() % count].push_back(random() % count);
    }
    const auto reaches = Reachability(graph);
    std::vector<int> component_of(count, -1);
    const auto components = CyclicComponents(graph);
    for (int i = 0; i < components.size(); ++i) {
      for (const int node : components[i]) component_of[node] = i;
      const auto cycle = ShortestCycle(graph, components[i]);
      EXPECT_EQ(cycle[0], components[i][0]);
      for (const int node : cycle) EXPECT_EQ(component_of[node], i);
    }
    for (int a = 0; a < count; ++a) {
      EXPECT_EQ(component_of[a] >= 0, reaches[a][a]);
      for (int b = 0; b < count; ++b) {
        const bool together =
            component_of[a] >= 0 && component_of[a] == component_of[b];
        EXPECT_EQ(together, reaches[a][b] && reaches[b][a]);
      }
    }
  }
}

}  // namespace
}  // namespace distbench::config
