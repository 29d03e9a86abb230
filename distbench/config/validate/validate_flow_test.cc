// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/config/testing/validation_cases.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

class BadFlow : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadFlow, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rules, BadFlow,
    ::testing::Values(
        ValidationCase{
            "MainListOfANonClient", "action_names: 'speak'",
            "action_names: ['speak', 'run']", "actions[\"run\"].rpc_name",
            "service \"grid\" runs this in action list \"grid\", but is not "
            "a client of RPC \"query\"; add client: \"grid\" to the RPC"},
        ValidationCase{"HandlerOfANonClient", "action_lists { name: 'query' }",
                       "action_lists { name: 'query' action_names: 'speak' }",
                       "actions[\"speak\"].rpc_name",
                       "service \"server\" runs this in action list \"query\", "
                       "but is not a client of RPC \"talk\""},
        ValidationCase{"NestedListOfANonClient",
                       "action_lists { name: 'talk' }",
                       "action_lists { name: 'talk' action_names: 'nest' } "
                       "action_lists { name: 'inner' action_names: 'run' } "
                       "actions { name: 'nest' action_list_name: 'inner' }",
                       "actions[\"run\"].rpc_name",
                       "service \"grid\" runs this in action list \"inner\""},
        ValidationCase{
            "ReplayOfANonClient", "action_names: 'speak'",
            "action_names: ['speak', 'replay'] } actions { name: 'replay' "
            "rpc_replay_trace_name: 't' } rpc_replay_traces { name: 't' "
            "client: 'client' server: 'server' records {}",
            "actions[\"replay\"].rpc_replay_trace_name",
            "service \"grid\" runs this in action list \"grid\", but the "
            "client of the trace is \"client\""},
        ValidationCase{"ListRunsItself", "",
                       "action_lists { name: 'loop' action_names: 'loop' } "
                       "actions { name: 'loop' action_list_name: 'loop' }",
                       "action_lists[\"loop\"]", "runs itself; use iterations"},
        ValidationCase{"ListRunsItselfThroughAnother", "",
                       "action_lists { name: 'a' action_names: 'run_b' } "
                       "action_lists { name: 'b' action_names: 'run_a' } "
                       "actions { name: 'run_a' action_list_name: 'a' } "
                       "actions { name: 'run_b' action_list_name: 'b' }",
                       "action_lists[\"a\"]", "runs itself, by way of \"b\""},
        ValidationCase{
            "ListRunsItselfByChance", "",
            "action_lists { name: 'loop' action_names: 'loop' "
            "predicate_probabilities { key: 'p' value: 0.5 } } actions { name: "
            "'loop' action_list_name: 'loop' predicates: 'p' }",
            "action_lists[\"loop\"]", "runs itself"},
        ValidationCase{"RpcCallsItself", "",
                       "rpc_descriptions { name: 'again' client: 'server' "
                       "server: 'server' fanout_filter: 'all' } action_lists { "
                       "name: 'again' action_names: 'again'  } actions { name: "
                       "'again' rpc_name: 'again'  }",
                       "action_lists[\"again\"]",
                       "its RPCs lead back to it endlessly; give one of "
                       "these actions a predicate"},
        ValidationCase{
            "RpcCallsItselfWithCertainty", "",
            "rpc_descriptions { name: 'again' client: 'server' server: "
            "'server' fanout_filter: 'all' } action_lists { name: 'again' "
            "action_names: 'again' predicate_probabilities { key: 'p' value: 1 "
            "} } actions { name: 'again' rpc_name: 'again' predicates: 'p' }",
            "action_lists[\"again\"]", "endlessly"},
        ValidationCase{
            "RpcCallsItselfUnlessImpossible", "",
            "rpc_descriptions { name: 'again' client: 'server' server: "
            "'server' fanout_filter: 'all' } action_lists { name: 'again' "
            "action_names: 'again' predicate_probabilities { key: 'p' value: 0 "
            "} } actions { name: 'again' rpc_name: 'again' predicates: '!p' }",
            "action_lists[\"again\"]", "endlessly"},
        ValidationCase{
            "RpcsCallEachOther", "",
            "rpc_descriptions { name: 'go' client: 'grid' server: 'grid' "
            "fanout_filter: 'all' } rpc_descriptions { name: 'come' client: "
            "'grid' server: 'grid' fanout_filter: 'all' } action_lists { name: "
            "'go' action_names: 'come' } action_lists { name: 'come' "
            "action_names: 'go' } actions { name: 'go' rpc_name: 'go' } "
            "actions { name: 'come' rpc_name: 'come' }",
            "action_lists[\"go\"]",
            "lead back to it endlessly, by way of \"come\""},
        ValidationCase{
            "RpcsGoBackAndForthOnAGrid", "",
            "rpc_descriptions { name: 'go' client: 'grid' server: 'grid' "
            "fanout_filter: 'linear_x{1}' } rpc_descriptions { name: 'come' "
            "client: 'grid' server: 'grid' fanout_filter: 'linear_x{-1}' } "
            "action_lists { name: 'go' action_names: 'come' } action_lists { "
            "name: 'come' action_names: 'go' } actions { name: 'go' rpc_name: "
            "'go' } actions { name: 'come' rpc_name: 'come' }",
            "action_lists[\"go\"]", "endlessly"},
        ValidationCase{
            "RpcGoesNowhereOnAGrid", "",
            "rpc_descriptions { name: 'go' client: 'grid' server: 'grid' "
            "fanout_filter: 'linear_x{0}' } rpc_descriptions { name: 'come' "
            "client: 'grid' server: 'grid' fanout_filter: 'linear_x{1}' } "
            "action_lists { name: 'go' action_names: 'come' } action_lists { "
            "name: 'come' action_names: 'go' } actions { name: 'go' rpc_name: "
            "'go' } actions { name: 'come' rpc_name: 'come' }",
            "action_lists[\"go\"]", "endlessly"},
        ValidationCase{
            "RpcGoesRound", "",
            "rpc_descriptions { name: 'go' client: 'grid' server: 'grid' "
            "fanout_filter: 'linear_x{1}' } rpc_descriptions { name: 'come' "
            "client: 'grid' server: 'grid' fanout_filter: 'ring_y' } "
            "action_lists { name: 'go' action_names: 'come' } action_lists { "
            "name: 'come' action_names: 'go' } actions { name: 'go' rpc_name: "
            "'go' } actions { name: 'come' rpc_name: 'come' }",
            "action_lists[\"go\"]", "endlessly"}),
    [](const auto& info) { return info.param.rule; });

TEST(ValidateFlow, AcceptsRpcsThatCallThemselvesByChance) {
  EXPECT_THAT(
      ProblemsAfter(
          "",
          "rpc_descriptions { name: 'again' client: 'server' server: 'server' "
          "fanout_filter: 'all' } action_lists { name: 'again' action_names: "
          "'again' predicate_probabilities { key: 'p' value: 0.9 } } actions { "
          "name: 'again' rpc_name: 'again' predicates: 'p' }"),
      ::testing::IsEmpty());
}

TEST(ValidateFlow, AcceptsRpcsThatEndAtTheGridsEdge) {
  EXPECT_THAT(
      ProblemsAfter(
          "",
          "rpc_descriptions { name: 'go' client: 'grid' server: 'grid' "
          "fanout_filter: 'linear_x{1}' } rpc_descriptions { name: 'come' "
          "client: 'grid' server: 'grid' fanout_filter: 'linear_x{2}' } "
          "action_lists { name: 'go' action_names: 'come' } action_lists { "
          "name: 'come' action_names: 'go' } actions { name: 'go' rpc_name: "
          "'go' } actions { name: 'come' rpc_name: 'come' }"),
      ::testing::IsEmpty());
}

TEST(ValidateFlow, AcceptsRpcsThatEndAtDifferentEdges) {
  EXPECT_THAT(
      ProblemsAfter(
          "",
          "rpc_descriptions { name: 'go' client: 'grid' server: 'grid' "
          "fanout_filter: 'linear_x{1}' } rpc_descriptions { name: 'come' "
          "client: 'grid' server: 'grid' fanout_filter: 'linear_y{-1}' } "
          "action_lists { name: 'go' action_names: 'come' } action_lists { "
          "name: 'come' action_names: 'go' } actions { name: 'go' rpc_name: "
          "'go' } actions { name: 'come' rpc_name: 'come' }"),
      ::testing::IsEmpty());
}

// A chain of lists below the main list of the client.
std::string NestedLists(int depth) {
  std::string config;
  for (int i = 0; i < depth; ++i) {
    absl::StrAppend(&config, "action_lists { name: 'nested", i,
                    "' action_names: 'go", i, "' } actions { name: 'go", i,
                    "' ");
    if (i + 1 < depth) {
      absl::StrAppend(&config, "action_list_name: 'nested", i + 1, "'");
    }
    absl::StrAppend(&config, " } ");
  }
  return absl::StrCat(config,
                      "action_lists { name: 'server' action_names: 'go' } "
                      "actions { name: 'go' action_list_name: 'nested0' }");
}

TEST(ValidateFlow, ListsNestAHundredDeepAtMost) {
  EXPECT_TRUE(ProblemsAfter("", NestedLists(100)).empty());
  const std::vector<Problem> problems = ProblemsAfter("", NestedLists(101));
  ASSERT_EQ(problems.size(), 1);
  EXPECT_EQ(problems[0].path, "tests[0].action_lists[\"nested100\"]");
  EXPECT_THAT(problems[0].message,
              ::testing::HasSubstr("more than 100 lists deep"));
}

TEST(ValidateFlow, AcceptsListsSharedByClients) {
  EXPECT_THAT(ProblemsAfter("client: 'client' server: 'server'",
                            "client: ['client', 'grid'] server: 'server'"),
              ::testing::IsEmpty());
}

TEST(ValidateFlow, AcceptsUnusedHandlersOfAnyService) {
  EXPECT_THAT(
      ProblemsAfter(
          "",
          "rpc_descriptions { name: 'unused' client: 'grid' server: 'grid' } "
          "action_lists { name: 'unused' action_names: 'run' }"),
      ::testing::IsEmpty());
}

}  // namespace
}  // namespace distbench::config
