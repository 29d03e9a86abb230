// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/testing/validation_cases.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

class BadAction : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadAction, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rules, BadAction,
    ::testing::Values(
        ValidationCase{"UnknownRpc", "",
                       "actions { name: 'new' rpc_name: 'quer' }",
                       "actions[\"new\"].rpc_name",
                       "no RPC is named \"quer\"; did you mean \"query\"?"},
        ValidationCase{"EmptyRpc", "", "actions { name: 'new' rpc_name: '' }",
                       "actions[\"new\"].rpc_name", "is missing; name the RPC"},
        ValidationCase{"UnknownList", "",
                       "actions { name: 'new' action_list_name: 'nolist' }",
                       "actions[\"new\"].action_list_name",
                       "no action list is named \"nolist\""},
        ValidationCase{
            "UnknownActivity", "",
            "actions { name: 'new' activity_config_name: 'a' }",
            "actions[\"new\"].activity_config_name",
            "no activity_configs entry is named \"a\"; there are none"},
        ValidationCase{"UnknownReplay", "",
                       "actions { name: 'new' rpc_replay_trace_name: 'a' }",
                       "actions[\"new\"].rpc_replay_trace_name",
                       "no RPC replay trace is named \"a\""},
        ValidationCase{
            "UnknownDelay", "",
            "actions { name: 'new' delay_distribution_name: 'delay' }",
            "actions[\"new\"].delay_distribution_name",
            "did you mean \"delays\"?"},
        ValidationCase{"UnknownRequestOverride", "",
                       "actions { name: 'new' rpc_name: 'query' "
                       "request_payload_override: 'large' }",
                       "actions[\"new\"].request_payload_override",
                       "no payload_descriptions entry is named \"large\""},
        ValidationCase{
            "UnknownResponseOverride", "",
            "actions { name: 'new' response_payload_override: 'large' }",
            "actions[\"new\"].response_payload_override",
            "no payload_descriptions entry is named \"large\""},
        ValidationCase{
            "RequestOverrideWithoutRpc", "",
            "actions { name: 'new' request_payload_override: 'small' }",
            "actions[\"new\"].request_payload_override", "has no effect"},
        ValidationCase{"UnknownDependency", "",
                       "actions { name: 'new' dependencies: 'ran' }",
                       "actions[\"new\"].dependencies[0]",
                       "no action is named \"ran\"; did you mean \"run\"?"},
        ValidationCase{"RepeatedDependency", "",
                       "actions { name: 'new' dependencies: ['run', 'run'] }",
                       "actions[\"new\"].dependencies[1]",
                       "\"run\" is listed more than once"},
        ValidationCase{
            "EmptyPredicate", "", "actions { name: 'new' predicates: '!' }",
            "actions[\"new\"].predicates[0]", "is empty; name a predicate"},
        ValidationCase{"DoubleNegation", "",
                       "actions { name: 'new' predicates: '!!lucky' }",
                       "actions[\"new\"].predicates[0]", "negates twice"},
        ValidationCase{"RepeatedPredicate", "",
                       "actions { name: 'new' predicates: ['lucky', 'lucky'] }",
                       "actions[\"new\"].predicates[1]",
                       "listed more than once"}),
    [](const auto& info) { return info.param.rule; });

class BadIterations : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadIterations, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rules, BadIterations,
    ::testing::Values(
        ValidationCase{
            "ZeroCount", "",
            "actions { name: 'new' iterations { max_iteration_count: 0 } }",
            "actions[\"new\"].iterations.max_iteration_count",
            "0 is out of range; must be at least 1"},
        ValidationCase{
            "ZeroDuration", "",
            "actions { name: 'new' iterations { max_duration_us: 0 } }",
            "actions[\"new\"].iterations.max_duration_us", "0 is out of range"},
        ValidationCase{"DurationOverflows", "",
                       "actions { name: 'new' iterations { max_duration_us: "
                       "9223372036854775807 } }",
                       "actions[\"new\"].iterations.max_duration_us",
                       "must be from 1 to 1000000000000000"},
        ValidationCase{
            "ZeroParallelism", "",
            "actions { name: 'new' iterations { max_parallel_iterations: 0 } }",
            "actions[\"new\"].iterations.max_parallel_iterations",
            "0 is out of range"},
        ValidationCase{
            "ZeroParallelismInOpenLoop", "",
            "actions { name: 'new' iterations { open_loop_interval_ns: 9 "
            "max_parallel_iterations: 0 } }",
            "actions[\"new\"].iterations.max_parallel_iterations",
            "0 is out of range; must be at least 1"},
        ValidationCase{"HugeParallelism", "",
                       "actions { name: 'new' iterations { "
                       "max_parallel_iterations: 1000001 } }",
                       "actions[\"new\"].iterations.max_parallel_iterations",
                       "must be from 1 to 1000000"},
        ValidationCase{
            "ZeroInterval", "",
            "actions { name: 'new' iterations { open_loop_interval_ns: 0 } }",
            "actions[\"new\"].iterations.open_loop_interval_ns",
            "0 is out of range"},
        ValidationCase{
            "NegativeInterval", "",
            "actions { name: 'new' iterations { open_loop_interval_ns: -5 } }",
            "actions[\"new\"].iterations.open_loop_interval_ns",
            "-5 is out of range"},
        ValidationCase{
            "UnknownIntervalDistribution", "",
            "actions { name: 'new' iterations { open_loop_interval_ns: 5 "
            "open_loop_interval_distribution: 'poisson' } }",
            "actions[\"new\"].iterations.open_loop_interval_distribution",
            "\"poisson\" is not a distribution of intervals; must be one of "
            "\"constant\", \"exponential\""},
        ValidationCase{
            "IntervalDistributionInClosedLoop", "",
            "actions { name: 'new' iterations { "
            "open_loop_interval_distribution: 'sync_burst' } }",
            "actions[\"new\"].iterations.open_loop_interval_distribution",
            "has no effect in a closed loop"},
        ValidationCase{
            "NegativeWarmup", "",
            "actions { name: 'new' iterations { warmup_iterations: -1 } }",
            "actions[\"new\"].iterations.warmup_iterations",
            "-1 is out of range"},
        ValidationCase{"NegativeWarmupTime", "",
                       "actions { name: 'new' iterations { warmup_ns: -1 } }",
                       "actions[\"new\"].iterations.warmup_ns",
                       "-1 is out of range"}),
    [](const auto& info) { return info.param.rule; });

class BadActionList : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadActionList, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rules, BadActionList,
    ::testing::Values(
        ValidationCase{"UnknownAction", "",
                       "action_lists { name: 'new_list' action_names: 'rune' }",
                       "action_lists[\"new_list\"].action_names[0]",
                       "no action is named \"rune\"; did you mean \"run\"?"},
        ValidationCase{"NegativeSamples", "",
                       "action_lists { name: 'new_list' max_rpc_samples: -1 }",
                       "action_lists[\"new_list\"].max_rpc_samples",
                       "-1 is out of range; must be at least 0"},
        ValidationCase{
            "DependencyComesLater", "action_names: ['run', 'then']",
            "action_names: ['then', 'run']",
            "actions[\"then\"].dependencies[0]",
            "action list \"client\" does not have \"run\" before \"then\""},
        ValidationCase{
            "DependencyIsElsewhere", "",
            "actions { name: 'after' dependencies: 'run' } action_lists { "
            "name: 'new_list' action_names: 'after' }",
            "actions[\"after\"].dependencies[0]",
            "action list \"new_list\" does not have \"run\" before \"after\""},
        ValidationCase{
            "DependencyOnItself", "",
            "actions { name: 'self' dependencies: 'self' } action_lists { "
            "name: 'new_list' action_names: ['self', 'self'] }",
            "actions[\"self\"].dependencies[0]",
            "does not have \"self\" before \"self\""},
        ValidationCase{
            "UndefinedPredicate", "",
            "actions { name: 'maybe' predicates: '!luck' } action_lists { "
            "name: 'new_list' action_names: 'maybe' predicate_probabilities { "
            "key: 'lucky' value: 1 } }",
            "actions[\"maybe\"].predicates[0]",
            "action list \"new_list\" has no predicate \"luck\" among its "
            "predicate_probabilities; did you mean \"lucky\"?"},
        ValidationCase{
            "NegatedPredicateDefinition", "",
            "action_lists { name: 'new_list' predicate_probabilities { key: "
            "'!lucky' value: 1 } }",
            "action_lists[\"new_list\"].predicate_probabilities[\"!lucky\"]",
            "must not begin with '!'"},
        ValidationCase{
            "EmptyPredicateDefinition", "",
            "action_lists { name: 'new_list' predicate_probabilities { key: '' "
            "value: 1 } }",
            "action_lists[\"new_list\"].predicate_probabilities[\"\"]",
            "is missing; name the predicate"},
        ValidationCase{
            "ProbabilityAboveOne", "",
            "action_lists { name: 'new_list' predicate_probabilities { key: "
            "'p' value: 7 } }",
            "action_lists[\"new_list\"].predicate_probabilities[\"p\"]",
            "7 is not a probability; must be from 0 to 1"},
        ValidationCase{
            "ProbabilityIsNoNumber", "",
            "action_lists { name: 'new_list' predicate_probabilities { key: "
            "'p' value: nan } }",
            "action_lists[\"new_list\"].predicate_probabilities[\"p\"]",
            "is not a probability"}),
    [](const auto& info) { return info.param.rule; });

TEST(ValidateActions, AcceptsActionsThatDoNothing) {
  EXPECT_THAT(
      ProblemsAfter(
          "",
          "actions { name: 'nop' iterations {} send_response_when_done: true } "
          "action_lists { name: 'new_list' action_names: ['nop', 'nop'] }"),
      ::testing::IsEmpty());
}

TEST(ValidateActions, AcceptsListsInOpenLoop) {
  EXPECT_THAT(
      ProblemsAfter(
          "",
          "actions { name: 'nest' action_list_name: 'query' iterations { "
          "open_loop_interval_ns: 1 max_parallel_iterations: 10000000 } } "
          "action_lists { name: 'new_list' action_names: 'nest' }"),
      ::testing::IsEmpty());
}

TEST(ValidateActions, AcceptsActivitiesInOpenLoop) {
  EXPECT_THAT(
      ProblemsAfter("",
                    "activity_configs { name: 'a' activity_settings { name: "
                    "'activity_func' string_value: 'ConsumeCpu' } } actions { "
                    "name: 'burn' activity_config_name: 'a' iterations { "
                    "open_loop_interval_ns: 1 } } action_lists { name: "
                    "'new_list' action_names: 'burn' }"),
      ::testing::IsEmpty());
}

TEST(ValidateActions, AcceptsContradictingPredicates) {
  EXPECT_THAT(
      ProblemsAfter("",
                    "actions { name: 'never' predicates: ['p', '!p'] } "
                    "action_lists { name: 'new_list' action_names: 'never' "
                    "predicate_probabilities { key: 'p' value: 0.5 } }"),
      ::testing::IsEmpty());
}

TEST(ValidateActions, AcceptsFixedOverrides) {
  EXPECT_THAT(
      ProblemsAfter(
          "",
          "actions { name: 'new' rpc_name: 'query' request_payload_override: "
          "'small' response_payload_override: 'varied' }"),
      ::testing::IsEmpty());
}

TEST(ValidateActions, AcceptsActionsOfNoList) {
  EXPECT_THAT(ProblemsAfter("",
                            "actions { name: 'new' predicates: 'undefined' "
                            "dependencies: 'run' }"),
              ::testing::IsEmpty());
}

}  // namespace
}  // namespace distbench::config
