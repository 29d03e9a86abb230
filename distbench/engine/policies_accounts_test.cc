// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What requests with policies count as where things go wrong: when they began,
// who is blamed, and deadlines of what cannot be sent. On simulated time.

#include <cstdint>

#include "distbench/engine/testing/scripted_servers.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

using Answer = ScriptedServers::Answer;

constexpr int64_t kHourNs = 3'600'000 * kMs;

// The first server has no room in its send queue, and the others answer.
Answer FirstIsFull(const protocol::ClientCall& call, int64_t /*now_ns*/) {
  return {.time_ns = kMs, .error = {}, .is_full = call.server_instance == 0};
}

// The second request is refused at once, sent after 20 ms, and takes 10 ms.
TEST(PoliciesAccountsTest, ARequestBeginsWithItsFirstAttemptAlsoIfRefused) {
  for (const char* iterations :
       {"max_iteration_count: 2 max_parallel_iterations: 2",
        "max_iteration_count: 2 open_loop_interval_ns: 1"}) {
    ScriptedServers servers(
        [](const protocol::ClientCall&, int64_t) { return Answer{10 * kMs}; });
    const PolicyOutcome outcome(
        servers.Run(PolicyTest("concurrency_limit { limit: 1 } "
                               "retry { initial_backoff: '20ms' jitter: 'none' "
                               "codes: 'RESOURCE_EXHAUSTED' }",
                               iterations)));
    EXPECT_EQ(outcome.rpc.succeeded_count(), 2);
    EXPECT_NEAR(outcome.rpc.service_time_ns().max(), 30 * kMs, 0.1 * kMs);
    // The caller's policy is not the load generator's lateness.
    EXPECT_LT(outcome.rpc.lateness_ns().max(), kMs);
  }
}

TEST(PoliciesAccountsTest, ARequestBeginsWithItsFirstAttemptAlsoIfItWaits) {
  ScriptedServers servers(FirstIsFull);
  const PolicyOutcome outcome(servers.Run(PolicyTest(
      "load_balancing: 'round_robin' hedging { delay: '10ms' }", "", 2)));
  EXPECT_EQ(outcome.rpc.succeeded_count(), 1);
  EXPECT_NEAR(outcome.rpc.service_time_ns().max(), 11 * kMs, 0.1 * kMs);
}

TEST(PoliciesAccountsTest, AnAttemptMayExpireBeforeItIsSent) {
  ScriptedServers servers(FirstIsFull);
  const PolicyOutcome outcome(
      servers.Run(PolicyTest("load_balancing: 'round_robin' "
                             "attempt_deadline: '20ms' "
                             "retry { initial_backoff: '1ms' jitter: 'none' }",
                             "", 2)));
  EXPECT_EQ(outcome.rpc.succeeded_count(), 1);
  EXPECT_NEAR(outcome.rpc.service_time_ns().max(), 22 * kMs, 0.1 * kMs);
  EXPECT_EQ(outcome.policy.abandoned_attempt_count(), 1);
}

TEST(PoliciesAccountsTest, AnAttemptThatIsTakenBackBeforeItIsSentWasNone) {
  ScriptedServers servers([](const protocol::ClientCall& call, int64_t) {
    return Answer{.time_ns = 30 * kMs, .is_full = call.server_instance == 1};
  });
  const PolicyOutcome outcome(servers.Run(PolicyTest(
      "load_balancing: 'round_robin' hedging { delay: '10ms' }", "", 2)));
  EXPECT_EQ(outcome.rpc.succeeded_count(), 1);
  EXPECT_EQ(outcome.policy.attempt_count(), 1);
  EXPECT_EQ(outcome.attempts_in_series, 1);
  EXPECT_EQ(outcome.policy.hedge_count(), 0);
  EXPECT_EQ(outcome.policy.abandoned_attempt_count(), 0);
}

TEST(PoliciesAccountsTest, WhatTheTrafficsEndTakesBackWasNoAttempt) {
  ScriptedServers servers(FirstIsFull);
  const PolicyOutcome outcome(servers.Run(
      PolicyTest("retry {}", "open_loop_interval_ns: 10000000"), /*workers=*/1,
      /*limit_ns=*/100 * kMs));
  EXPECT_GT(outcome.policy.request_count(), 5);
  EXPECT_EQ(outcome.policy.attempt_count(), 0);
  EXPECT_EQ(outcome.attempts_in_series, 0);
  EXPECT_EQ(outcome.policy.abandoned_attempt_count(), 0);
}

// It counts in the second in which it is sent.
TEST(PoliciesAccountsTest, AnAttemptThatWaitsCountsOnceItIsSent) {
  int64_t room_ns = 0;
  ScriptedServers servers([&](const protocol::ClientCall&, int64_t now_ns) {
    if (room_ns == 0) room_ns = now_ns + 30 * kMs;
    return Answer{.time_ns = kMs, .is_full = now_ns < room_ns};
  });
  const PolicyOutcome outcome(servers.Run(PolicyTest("retry {}")));
  EXPECT_EQ(outcome.policy.attempt_count(), 1);
  EXPECT_EQ(outcome.attempts_in_series, 1);
  EXPECT_EQ(outcome.policy.succeeded_attempt_count(), 1);
}

// Also without a policy. It never reached a server.
TEST(PoliciesAccountsTest, ARequestMayExpireBeforeItIsSent) {
  for (const bool has_policy : {true, false}) {
    DistributedSystemDescription test =
        PolicyTest("", "max_iteration_count: 1 open_loop_interval_ns: 1", 1,
                   "deadline: '20ms'");
    if (!has_policy) test.mutable_rpc_descriptions(0)->clear_policy();
    ScriptedServers servers(FirstIsFull);
    const ServiceLogs logs = servers.Run(test);
    const PolicyOutcome outcome(logs);
    EXPECT_EQ(outcome.rpc.failed_count(), 1);
    EXPECT_THAT(outcome.errors,
                Contains(HasSubstr("DEADLINE_EXCEEDED: not sent in time")));
    const OfferedLoad& load =
        logs.instance_logs().at("client/0").offered_loads().at(0);
    EXPECT_EQ(load.unsent_count(), 1);
    EXPECT_NEAR(load.unsent_wait_ns().max(), 20 * kMs, 0.1 * kMs);
  }
}

// What is in flight when everything ends is cancelled, which says nothing about
// servers.
TEST(PoliciesAccountsTest, TheEndOfTheTrafficIsNoFailureOfServers) {
  ScriptedServers servers(
      [](const protocol::ClientCall&, int64_t) { return Answer{kHourNs}; });
  const PolicyOutcome outcome(
      servers.Run(PolicyTest("circuit_breaker { min_attempts: 5 } "
                             "concurrency_limit { kind: 'aimd' limit: 1000 }",
                             "open_loop_interval_ns: 1000000"),
                  /*workers=*/1, /*limit_ns=*/100 * kMs));
  EXPECT_GT(outcome.policy.attempt_count(), 90);
  EXPECT_EQ(outcome.policy.abandoned_attempt_count(),
            outcome.policy.attempt_count());
  EXPECT_EQ(outcome.policy.failed_attempt_count(), 0);
  EXPECT_EQ(outcome.policy.circuit_opened_count(), 0);
  EXPECT_EQ(outcome.policy.concurrency_limit().min(), 1000);
}

// A server that answers so has not been given up.
TEST(PoliciesAccountsTest, AServerMayAnswerThatADeadlineHasPassed) {
  ScriptedServers servers([](const protocol::ClientCall&, int64_t) {
    return Answer{kMs, "DEADLINE_EXCEEDED: of a call of mine"};
  });
  const PolicyOutcome outcome(
      servers.Run(PolicyTest("", "", 1, "deadline: '1s'")));
  EXPECT_EQ(outcome.policy.failed_attempt_count(), 1);
  EXPECT_EQ(outcome.policy.abandoned_attempt_count(), 0);
}

TEST(PoliciesAccountsTest, NothingIsHedgedAtTheDeadline) {
  ScriptedServers servers(
      [](const protocol::ClientCall&, int64_t) { return Answer{kHourNs}; });
  const PolicyOutcome outcome(servers.Run(
      PolicyTest("hedging { delay: '20ms' }", "", 1, "deadline: '20ms'")));
  EXPECT_EQ(outcome.policy.attempt_count(), 1);
  EXPECT_EQ(outcome.policy.abandoned_attempt_count(), 1);
}

}  // namespace
}  // namespace distbench::engine
