// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Requests of callers that are sent several times at once, on simulated time:
// hedging and quorums. policies_theory_test.cc compares them with theory.

#include <cstdint>
#include <string>

#include "absl/strings/substitute.h"
#include "distbench/engine/testing/scripted_servers.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "distbench/results/histogram_proto.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using Answer = ScriptedServers::Answer;

TEST(PoliciesOfManyAttemptsTest, AFailedHedgedAttemptIsFollowedAtOnce) {
  ScriptedServers servers(
      [calls = 0](const protocol::ClientCall&, int64_t) mutable {
        return Answer{kMs, ++calls == 1 ? "UNAVAILABLE: not now" : ""};
      });
  const PolicyOutcome outcome(
      servers.Run(PolicyTest("hedging { max_attempts: 2 delay: '1s' }")));
  EXPECT_EQ(outcome.rpc.succeeded_count(), 1);
  EXPECT_NEAR(outcome.rpc.service_time_ns().max(), 2 * kMs, 0.1 * kMs);
  EXPECT_EQ(outcome.policy.hedge_count(), 1);
  EXPECT_EQ(outcome.policy.hedge_won_count(), 1);
}

// The first call takes long, the others do not.
ScriptedServers::Script FirstIsSlow(int64_t slow_ms) {
  return [=, calls = 0](const protocol::ClientCall&, int64_t) mutable {
    return Answer{++calls == 1 ? slow_ms * kMs : kMs};
  };
}

TEST(PoliciesOfManyAttemptsTest, LosersAreCancelled) {
  ScriptedServers servers(FirstIsSlow(500));
  const PolicyOutcome outcome(servers.Run(PolicyTest(
      "hedging { max_attempts: 3 delay: '10ms' }", "max_iteration_count: 2")));
  EXPECT_EQ(outcome.rpc.succeeded_count(), 2);
  EXPECT_NEAR(outcome.rpc.service_time_ns().max(), 11 * kMs, 0.2 * kMs);
  EXPECT_EQ(servers.cancelled_count(), 1);
  EXPECT_EQ(outcome.policy.attempt_count(), 3);
  EXPECT_EQ(outcome.policy.succeeded_attempt_count(), 2);
  EXPECT_EQ(outcome.policy.abandoned_attempt_count(), 1);
  EXPECT_EQ(outcome.policy.uncancelled_attempt_count(), 0);
  EXPECT_EQ(results::HistogramOf(outcome.policy.attempt_time_ns()).count(), 2);
}

// The late answer comes while later iterations use the same objects.
TEST(PoliciesOfManyAttemptsTest,
     LateAnswersAreCountedWhereLosersCannotBeCancelled) {
  ScriptedServers servers(FirstIsSlow(50), /*can_cancel=*/false);
  const PolicyOutcome outcome(
      servers.Run(PolicyTest("hedging { max_attempts: 3 delay: '10ms' }",
                             "max_iteration_count: 100")));
  EXPECT_EQ(outcome.rpc.succeeded_count(), 100);
  EXPECT_EQ(outcome.policy.attempt_count(), 101);
  EXPECT_EQ(outcome.policy.abandoned_attempt_count(), 1);
  EXPECT_EQ(outcome.policy.uncancelled_attempt_count(), 1);
  EXPECT_EQ(results::HistogramOf(outcome.policy.attempt_time_ns()).count(),
            101);
  EXPECT_NEAR(outcome.policy.attempt_time_ns().max(), 50 * kMs, kMs);
}

TEST(PoliciesOfManyAttemptsTest, TheWarmUpIsNotCountedButTeaches) {
  ScriptedServers servers(
      [](const protocol::ClientCall&, int64_t) { return Answer{10 * kMs}; });
  const PolicyOutcome outcome(
      servers.Run(PolicyTest("hedging { percentile: 50 }",
                             "max_iteration_count: 150 warmup_iterations: 100 "
                             "max_parallel_iterations: 10")));
  EXPECT_EQ(outcome.rpc.warmup_count(), 100);
  EXPECT_EQ(outcome.policy.request_count(), 50);
  // Attempts that take as long as all others are hedged when they end.
  EXPECT_EQ(servers.call_count(), 100 + outcome.policy.attempt_count());
}

TEST(PoliciesOfManyAttemptsTest, AnIterationEndsWithItsQuorum) {
  for (const char* rest : {"cancel", "ignore"}) {
    ScriptedServers servers([](const protocol::ClientCall& call, int64_t) {
      return Answer{(1 + call.server_instance) * kMs};
    });
    const PolicyOutcome outcome(servers.Run(
        PolicyTest(absl::Substitute("quorum { answers: 3 rest: '$0' }", rest),
                   "max_iteration_count: 100", /*servers=*/5)));
    const bool cancels = rest == std::string("cancel");
    EXPECT_EQ(results::HistogramOf(outcome.policy.quorum_time_ns()).count(),
              100)
        << rest;
    EXPECT_NEAR(outcome.policy.quorum_time_ns().max(), 3 * kMs, 0.1 * kMs);
    EXPECT_EQ(outcome.policy.quorum_failed_count(), 0);
    EXPECT_EQ(outcome.policy.request_count(), 500);
    EXPECT_EQ(outcome.rpc.failed_count(), 0);
    // The last ones end when the traffic does.
    const int64_t late = cancels ? 0 : 2 * 99;
    EXPECT_EQ(outcome.rpc.succeeded_count(), 300 + late) << rest;
    EXPECT_EQ(outcome.policy.not_needed_count(), 200 - late) << rest;
    EXPECT_EQ(servers.cancelled_count(), cancels ? 200 : 0);
  }
}

TEST(PoliciesOfManyAttemptsTest, AQuorumThatCannotBeReachedFailsTheIteration) {
  ScriptedServers servers([](const protocol::ClientCall& call, int64_t) {
    return Answer{(1 + call.server_instance) * kMs,
                  call.server_instance < 2 ? "INTERNAL: no" : ""};
  });
  const PolicyOutcome outcome(
      servers.Run(PolicyTest("quorum { answers: 3 }", "max_iteration_count: 10",
                             /*servers=*/4)));
  EXPECT_EQ(outcome.policy.quorum_failed_count(), 10);
  EXPECT_EQ(outcome.rpc.failed_count(), 20);
  EXPECT_EQ(outcome.rpc.succeeded_count(), 0);
  EXPECT_EQ(outcome.policy.not_needed_count(), 20);
}

TEST(PoliciesOfManyAttemptsTest, AFailureWithinAQuorumIsNone) {
  ScriptedServers servers([](const protocol::ClientCall& call, int64_t) {
    return Answer{kMs, call.server_instance == 0 ? "INTERNAL: no" : ""};
  });
  const PolicyOutcome outcome(
      servers.Run(PolicyTest("quorum { answers: 2 }", "max_duration: '1s'",
                             /*servers=*/3)));
  // The closed loop does not pause, because no iteration fails.
  EXPECT_GT(results::HistogramOf(outcome.policy.quorum_time_ns()).count(), 900);
}

// All requests of iterations without an answer: their quorum has failed before
// the iteration's send is over.
TEST(PoliciesOfManyAttemptsTest, RefusedRequestsOfAQuorumEndLater) {
  ScriptedServers servers(
      [](const protocol::ClientCall&, int64_t) { return Answer{kMs}; });
  const PolicyOutcome outcome(servers.Run(
      PolicyTest("quorum { answers: 2 } concurrency_limit { limit: 1 }",
                 "max_iteration_count: 10", /*servers=*/3)));
  EXPECT_EQ(outcome.policy.quorum_failed_count(), 10);
  EXPECT_EQ(outcome.policy.request_count(), 30);
}

TEST(PoliciesOfManyAttemptsTest, SamplesOfAListAreLimited) {
  DistributedSystemDescription test =
      PolicyTest("quorum { answers: 2 rest: 'ignore' }",
                 "max_iteration_count: 50", /*servers=*/3);
  test.mutable_action_lists(0)->set_max_rpc_samples(10);
  ScriptedServers servers([](const protocol::ClientCall& call, int64_t) {
    return Answer{(1 + call.server_instance) * kMs};
  });
  const PolicyOutcome outcome(servers.Run(test));
  EXPECT_EQ(outcome.sample_count, 10);
  EXPECT_EQ(outcome.rpc.succeeded_count(), 100 + 49);
}

}  // namespace
}  // namespace distbench::engine
