// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/validate/flow_graph.h"

#include <random>
#include <string>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
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

std::vector<bool> Conditionals(const std::string& predicates,
                               const std::string& actions) {
  const auto test = base::FromText<DistributedSystemDescription>(R"(
    action_lists { name: 'target' }
    action_lists { name: 'list' action_names: ['a', 'b'] )" + predicates +
                                                                 "}" + actions);
  std::vector<bool> conditionals;
  for (const FlowEdge& edge : FlowEdges(test, TestNames(test))) {
    conditionals.push_back(edge.conditional);
  }
  return conditionals;
}

TEST(FlowEdges, LeadToNestedListsAndHandlers) {
  const auto test = base::FromText<DistributedSystemDescription>(R"(
    rpc_descriptions { name: 'other' }
    rpc_descriptions { name: 'rpc' }
    action_lists { name: 'main' action_names: ['nop', 'call', 'nest', 'bad'] }
    action_lists { name: 'nested' }
    action_lists { name: 'rpc' }
    actions { name: 'nop' }
    actions { name: 'call' rpc_name: 'rpc' }
    actions { name: 'nest' action_list_name: 'nested' }
    actions { name: 'bad' action_list_name: 'unknown' })");
  const auto edges = FlowEdges(test, TestNames(test));
  ASSERT_EQ(edges.size(), 2);
  EXPECT_EQ(edges[0].from, 0);
  EXPECT_EQ(edges[0].to, 2);
  EXPECT_EQ(edges[0].rpc, 1);
  EXPECT_EQ(edges[1].to, 1);
  EXPECT_EQ(edges[1].rpc, kNone);
}

TEST(FlowEdges, AreConditionalIfAPredicateMayFail) {
  const std::string action = "actions { name: 'a' action_list_name: 'target' ";
  const auto with = [&](const char* probability, const char* predicate) {
    return Conditionals(
        std::string("predicate_probabilities { key: 'p' value: ") +
            probability + "}",
        action + "predicates: '" + predicate + "' }");
  };
  EXPECT_THAT(Conditionals("", action + "}"), ElementsAre(false));
  EXPECT_THAT(with("0.9", "p"), ElementsAre(true));
  EXPECT_THAT(with("1", "p"), ElementsAre(false));
  EXPECT_THAT(with("0", "!p"), ElementsAre(false));
  EXPECT_THAT(with("0.1", "!p"), ElementsAre(true));
  EXPECT_THAT(with("0.1", "undefined"), ElementsAre(false));
}

TEST(FlowEdges, AreConditionalIfADependencyIs) {
  EXPECT_THAT(Conditionals("predicate_probabilities { key: 'p' value: 0.5 }",
                           "actions { name: 'a' predicates: 'p' }"
                           "actions { name: 'b' action_list_name: 'target' "
                           "          dependencies: 'a' }"),
              ElementsAre(true));
}

TEST(ReachableUses, FollowNestedListsAndHandlers) {
  const auto test = base::FromText<DistributedSystemDescription>(R"(
    services { name: 'client' }
    services { name: 'server' }
    rpc_descriptions { name: 'rpc' client: 'client' server: 'server' }
    rpc_descriptions { name: 'unused' client: 'client' server: 'server' }
    action_lists { name: 'client' action_names: ['nest', 'call'] }
    action_lists { name: 'shared' action_names: 'nop' }
    action_lists { name: 'rpc' action_names: 'nest' }
    action_lists { name: 'unused' action_names: 'nop' }
    actions { name: 'nop' }
    actions { name: 'call' rpc_name: 'rpc' }
    actions { name: 'nest' action_list_name: 'shared' })");
  EXPECT_THAT(
      ReachableUses(test, TestNames(test)),
      ElementsAre(ActionUse{2, 0, 0}, ActionUse{1, 0, 0}, ActionUse{0, 1, 0},
                  ActionUse{2, 2, 1}, ActionUse{0, 1, 1}));
}

TEST(ReachableUses, EndWithRecursion) {
  const auto test = base::FromText<DistributedSystemDescription>(R"(
    services { name: 's' }
    action_lists { name: 's' action_names: 'again' }
    actions { name: 'again' action_list_name: 's' })");
  EXPECT_THAT(ReachableUses(test, TestNames(test)),
              ElementsAre(ActionUse{0, 0, 0}));
}

}  // namespace
}  // namespace distbench::config
