// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "distbench/config/testing/validation_cases.h"
#include "distbench/config/validate/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::IsEmpty;

class BadPolicy : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadPolicy, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

#define RPC_WITH_POLICY(fields)                                              \
  "default_protocol: 'loopback' "                                            \
  "rpc_descriptions { name: 'new' client: 'client' server: 'server' " fields \
  " } action_lists { name: 'new' }"

INSTANTIATE_TEST_SUITE_P(
    Rules, BadPolicy,
    ::testing::Values(
        ValidationCase{"Stream", "", RPC_WITH_POLICY("stream {} policy {}"),
                       "rpc_descriptions[\"new\"].policy",
                       "does not go together with stream"},
        ValidationCase{"LoadBalancing", "",
                       RPC_WITH_POLICY("policy { load_balancing: 'rondom' }"),
                       "rpc_descriptions[\"new\"].policy.load_balancing",
                       "there is no \"rondom\"; did you mean \"random\"?"},
        ValidationCase{
            "LoadBalancingAndFanout", "",
            RPC_WITH_POLICY(
                "fanout_filter: 'random' policy { load_balancing: 'random' }"),
            "rpc_descriptions[\"new\"].policy.load_balancing",
            "does not go together with fanout_filter"},
        ValidationCase{
            "LoadBalancingAndQuorum", "",
            RPC_WITH_POLICY(
                "policy { load_balancing: 'random' quorum { answers: 1 } }"),
            "rpc_descriptions[\"new\"].policy.load_balancing",
            "remove load_balancing or quorum"},
        ValidationCase{"AttemptDeadline", "",
                       RPC_WITH_POLICY("policy { attempt_deadline: '0s' }"),
                       "rpc_descriptions[\"new\"].policy.attempt_deadline",
                       "is out of range"},
        ValidationCase{"AttemptDeadlineNumber", "",
                       RPC_WITH_POLICY("policy { attempt_deadline_ns: 0 }"),
                       "rpc_descriptions[\"new\"].policy.attempt_deadline_ns",
                       "0 is out of range"},
        ValidationCase{
            "AttemptDeadlineTwice", "",
            RPC_WITH_POLICY(
                "policy { attempt_deadline: '1s' attempt_deadline_ns: 1 }"),
            "rpc_descriptions[\"new\"].policy",
            "has both attempt_deadline and attempt_deadline_ns"},
        ValidationCase{
            "RetryAndHedging", "",
            RPC_WITH_POLICY("policy { retry {} hedging { delay: '1s' } }"),
            "rpc_descriptions[\"new\"].policy",
            "has both retry and hedging; give one"},
        ValidationCase{"OneAttempt", "",
                       RPC_WITH_POLICY("policy { retry { max_attempts: 1 } }"),
                       "rpc_descriptions[\"new\"].policy.retry.max_attempts",
                       "1 is out of range"},
        ValidationCase{
            "TooManyAttempts", "",
            RPC_WITH_POLICY(
                "policy { hedging { max_attempts: 101 delay: '1s' } }"),
            "rpc_descriptions[\"new\"].policy.hedging.max_attempts",
            "101 is out of range"},
        ValidationCase{
            "Backoff", "",
            RPC_WITH_POLICY("policy { retry { initial_backoff: '10' } }"),
            "rpc_descriptions[\"new\"].policy.retry.initial_backoff",
            "\"10\" is not a duration"},
        ValidationCase{
            "BackoffAboveMaximum", "",
            RPC_WITH_POLICY("policy { retry { initial_backoff: '2s' } }"),
            "rpc_descriptions[\"new\"].policy.retry.initial_backoff",
            "2000000000 ns is above max_backoff, 1000000000 ns"},
        ValidationCase{"Multiplier", "",
                       RPC_WITH_POLICY("policy { retry { multiplier: 0.5 } }"),
                       "rpc_descriptions[\"new\"].policy.retry.multiplier",
                       "0.5 is out of range; must be from 1 to 1000"},
        ValidationCase{"MultiplierNan", "",
                       RPC_WITH_POLICY("policy { retry { multiplier: nan } }"),
                       "rpc_descriptions[\"new\"].policy.retry.multiplier",
                       "nan is out of range"},
        ValidationCase{"Jitter", "",
                       RPC_WITH_POLICY("policy { retry { jitter: 'half' } }"),
                       "rpc_descriptions[\"new\"].policy.retry.jitter",
                       "there is no \"half\""},
        ValidationCase{
            "Code", "",
            RPC_WITH_POLICY("policy { retry { codes: 'UNAVAILIBLE' } }"),
            "rpc_descriptions[\"new\"].policy.retry.codes[0]",
            "did you mean \"UNAVAILABLE\"?"},
        ValidationCase{
            "BudgetRatio", "",
            RPC_WITH_POLICY("policy { retry { budget { ratio: -1 } } }"),
            "rpc_descriptions[\"new\"].policy.retry.budget.ratio",
            "-1 is out of range"},
        ValidationCase{
            "BudgetMinimum", "",
            RPC_WITH_POLICY(
                "policy { retry { budget { min_per_second: -1 } } }"),
            "rpc_descriptions[\"new\"].policy.retry.budget.min_per_second",
            "-1 is out of range"},
        ValidationCase{
            "BudgetWindow", "",
            RPC_WITH_POLICY(
                "policy { hedging { delay: '1s' budget { window: '0s' } } }"),
            "rpc_descriptions[\"new\"].policy.hedging.budget.window",
            "is out of range"},
        ValidationCase{
            "NoHedgingTime", "", RPC_WITH_POLICY("policy { hedging {} }"),
            "rpc_descriptions[\"new\"].policy.hedging",
            "has no time between attempts; give delay or percentile"},
        ValidationCase{
            "TwoHedgingTimes", "",
            RPC_WITH_POLICY("policy { hedging { delay: '1s' percentile: 9 } }"),
            "rpc_descriptions[\"new\"].policy.hedging",
            "has both delay and percentile; give one"},
        ValidationCase{
            "Percentile", "",
            RPC_WITH_POLICY("policy { hedging { percentile: 100 } }"),
            "rpc_descriptions[\"new\"].policy.hedging.percentile",
            "100 is out of range; must be above 0 and below 100"},
        ValidationCase{"NoAnswers", "", RPC_WITH_POLICY("policy { quorum {} }"),
                       "rpc_descriptions[\"new\"].policy.quorum.answers",
                       "is missing"},
        ValidationCase{"ZeroAnswers", "",
                       RPC_WITH_POLICY("policy { quorum { answers: 0 } }"),
                       "rpc_descriptions[\"new\"].policy.quorum.answers",
                       "0 is out of range"},
        ValidationCase{"TooManyAnswers", "",
                       RPC_WITH_POLICY("policy { quorum { answers: 4 } }"),
                       "rpc_descriptions[\"new\"].policy.quorum.answers",
                       "4 answers are more than an iteration can get; it may "
                       "have only 3 targets"},
        ValidationCase{
            "AnswersOfOneTarget", "",
            RPC_WITH_POLICY(
                "fanout_filter: 'random' policy { quorum { answers: 2 } }"),
            "rpc_descriptions[\"new\"].policy.quorum.answers",
            "it may have only 1 target"},
        ValidationCase{
            "AnswersOfOneColumn", "",
            "default_protocol: 'loopback' rpc_descriptions { name: 'new' "
            "client: 'client' server: 'grid' fanout_filter: 'same_x' "
            "policy { quorum { answers: 4 } } } action_lists { name: 'new' }",
            "rpc_descriptions[\"new\"].policy.quorum.answers",
            "it may have only 3 targets"},
        ValidationCase{
            "AnswersOfFewTargets", "",
            RPC_WITH_POLICY("fanout_filter: 'stochastic{0.5:0,0.2:2,0.3:3}' "
                            "policy { quorum { answers: 3 } }"),
            "rpc_descriptions[\"new\"].policy.quorum.answers",
            "it may have only 2 targets"},
        ValidationCase{
            "Rest", "",
            RPC_WITH_POLICY("policy { quorum { answers: 1 rest: 'wait' } }"),
            "rpc_descriptions[\"new\"].policy.quorum.rest",
            "there is no \"wait\""},
        ValidationCase{
            "FailureRatio", "",
            RPC_WITH_POLICY("policy { circuit_breaker { failure_ratio: 0 } }"),
            "rpc_descriptions[\"new\"].policy.circuit_breaker.failure_ratio",
            "must be above 0 and at most 1"},
        ValidationCase{
            "BreakerAttempts", "",
            RPC_WITH_POLICY("policy { circuit_breaker { min_attempts: 0 } }"),
            "rpc_descriptions[\"new\"].policy.circuit_breaker.min_attempts",
            "0 is out of range"},
        ValidationCase{
            "BreakerOpen", "",
            RPC_WITH_POLICY("policy { circuit_breaker { open_ns: 0 } }"),
            "rpc_descriptions[\"new\"].policy.circuit_breaker.open_ns",
            "0 is out of range"},
        ValidationCase{
            "LimitKind", "",
            RPC_WITH_POLICY("policy { concurrency_limit { kind: 'vegas' } }"),
            "rpc_descriptions[\"new\"].policy.concurrency_limit.kind",
            "there is no \"vegas\""},
        ValidationCase{
            "Limit", "",
            RPC_WITH_POLICY("policy { concurrency_limit { limit: 0 } }"),
            "rpc_descriptions[\"new\"].policy.concurrency_limit.limit",
            "0 is out of range"},
        ValidationCase{
            "LimitBelowRange", "",
            RPC_WITH_POLICY("policy { concurrency_limit { kind: 'aimd' limit: "
                            "5 min_limit: 6 } }"),
            "rpc_descriptions[\"new\"].policy.concurrency_limit.limit",
            "5 is not from min_limit, 6, to max_limit, 1000"},
        ValidationCase{
            "RangeOfFixedLimit", "",
            RPC_WITH_POLICY("policy { concurrency_limit { max_limit: 6 } }"),
            "rpc_descriptions[\"new\"].policy.concurrency_limit",
            "a fixed limit does not change"},
        ValidationCase{
            "BackoffRatio", "",
            RPC_WITH_POLICY("policy { concurrency_limit { kind: 'aimd' "
                            "backoff_ratio: 1 } }"),
            "rpc_descriptions[\"new\"].policy.concurrency_limit.backoff_ratio",
            "must be above 0 and below 1"},
        ValidationCase{
            "BackoffRatioOfGradient", "",
            RPC_WITH_POLICY("policy { concurrency_limit { kind: 'gradient' "
                            "backoff_ratio: 0.5 } }"),
            "rpc_descriptions[\"new\"].policy.concurrency_limit.backoff_ratio",
            "belongs to kind \"aimd\""}),
    [](const auto& info) { return std::string(info.param.rule); });

TEST(PolicyValidationTest, WhatIsRightIsAccepted) {
  for (const char* fields :
       {RPC_WITH_POLICY("policy {}"),
        RPC_WITH_POLICY("fanout_filter: '' policy { load_balancing: '' "
                        "retry { jitter: '' } quorum { answers: 3 rest: '' } "
                        "concurrency_limit { kind: '' } }"),
        RPC_WITH_POLICY("policy { load_balancing: 'two_choices' hedging { "
                        "percentile: 95 budget { ratio: 0 } } }"),
        RPC_WITH_POLICY("policy { retry { max_attempts: 100 "
                        "initial_backoff: '0s' max_backoff: '0s' codes: "
                        "'UNAVAILABLE' codes: 'DEADLINE_EXCEEDED' } "
                        "circuit_breaker { failure_ratio: 1 } }"),
        RPC_WITH_POLICY("policy { concurrency_limit { kind: 'gradient' "
                        "limit: 1 max_limit: 1 } }")}) {
    EXPECT_THAT(ProblemsAfter("", fields), IsEmpty()) << fields;
  }
}

// Equal policies have equal canonical forms.
TEST(PolicyValidationTest, UnitsBecomeNumbers) {
  TestSequence sequence;
  CallPolicy& policy =
      *sequence.add_tests()->add_rpc_descriptions()->mutable_policy();
  policy.set_attempt_deadline("20ms");
  policy.mutable_retry()->set_initial_backoff("1ms");
  policy.mutable_retry()->mutable_budget()->set_window("2s");
  policy.mutable_hedging()->set_delay("3us");
  policy.mutable_hedging()->mutable_budget()->set_window("4s");
  policy.mutable_circuit_breaker()->set_open("5s");
  policy.mutable_circuit_breaker()->set_window("6s");
  Canonicalize(sequence);
  EXPECT_EQ(policy.ShortDebugString(),
            "attempt_deadline_ns: 20000000 "
            "retry { initial_backoff_ns: 1000000 "
            "budget { window_ns: 2000000000 } } "
            "hedging { delay_ns: 3000 budget { window_ns: 4000000000 } } "
            "circuit_breaker { window_ns: 6000000000 open_ns: 5000000000 }");
}

}  // namespace
}  // namespace distbench::config
