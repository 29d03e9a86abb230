#include "distbench/config/validate/flow_graph.h"

#include <string>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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
