// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Policies of callers, on simulated time: retries, deadlines, refusals, and the
// ends of traffic. policies_theory_test.cc compares them with theory.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "distbench/engine/testing/scripted_servers.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "distbench/results/histogram_proto.h"
#include "distbench/results/message_sums.h"
#include "distbench/stats/log_histogram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Answer = ScriptedServers::Answer;

const char kRetryTenTimes[] =
    "retry { max_attempts: 10 initial_backoff: '10ms' max_backoff: '40ms' "
    "jitter: 'none' }";

// Fails the first `failures` calls after 1 ms, and answers the others so.
ScriptedServers::Script FailFirst(int failures, const char* error) {
  return [=, calls = 0](const protocol::ClientCall&, int64_t) mutable {
    return Answer{kMs, ++calls <= failures ? error : ""};
  };
}

TEST(PoliciesTest, ARequestIsFromItsFirstSendToItsOutcome) {
  ScriptedServers servers(FailFirst(4, "UNAVAILABLE: not now"));
  const PolicyOutcome outcome(servers.Run(PolicyTest(kRetryTenTimes)));
  EXPECT_EQ(outcome.rpc.succeeded_count(), 1);
  EXPECT_EQ(outcome.rpc.failed_count(), 0);
  // Five attempts of 1 ms, and pauses that grow to their maximum.
  EXPECT_NEAR(outcome.rpc.service_time_ns().max(),
              (5 + 10 + 20 + 40 + 40) * kMs, 0.1 * kMs);
  EXPECT_EQ(outcome.policy.request_count(), 1);
  EXPECT_EQ(outcome.policy.attempt_count(), 5);
  EXPECT_EQ(outcome.policy.retry_count(), 4);
  EXPECT_EQ(outcome.policy.succeeded_attempt_count(), 1);
  EXPECT_EQ(outcome.policy.failed_attempt_count(), 4);
  EXPECT_NEAR(outcome.policy.attempt_time_ns().max(), kMs, 0.02 * kMs);
  EXPECT_EQ(outcome.attempts_in_series, 5);
}

TEST(PoliciesTest, TheWireTimeIsThatOfTheAttemptWithTheOutcome) {
  DistributedSystemDescription test = PolicyTest(kRetryTenTimes);
  test.set_default_protocol("tcp");  // others take no stamps
  test.mutable_measure_wire_time();
  ScriptedServers servers([calls = 0](const protocol::ClientCall&,
                                      int64_t) mutable {
    return ++calls == 1
               ? Answer{.time_ns = kMs,
                        .error = "UNAVAILABLE: not now",
                        .wire_ns = 900'000}
               : Answer{
                     .time_ns = kMs, .wire_ns = 700'000, .wire_shared = true};
  });
  const ServiceLogs logs = servers.Run(test);
  const PolicyOutcome outcome(logs);
  EXPECT_EQ(outcome.rpc.succeeded_count(), 1);
  const stats::LogHistogram wire_ns =
      results::HistogramOf(outcome.rpc.wire_time_ns());
  EXPECT_EQ(wire_ns.count(), 1);
  EXPECT_NEAR(wire_ns.max(), 700'000, 10'000);
  EXPECT_EQ(outcome.rpc.wire_shared_count(), 1);
  const RpcSample& sample =
      LogOf(logs, "client/0", "server/0", 0).successful_rpc_samples(0);
  EXPECT_EQ(sample.wire_time_ns(), 700'000);
  EXPECT_TRUE(sample.wire_shared());
}

TEST(PoliciesTest, AttemptsEndAtTheirMaximum) {
  ScriptedServers servers(FailFirst(100, "UNAVAILABLE: not now"));
  const PolicyOutcome outcome(servers.Run(PolicyTest(
      "retry { max_attempts: 3 initial_backoff: '1ms' jitter: 'none' }")));
  EXPECT_EQ(outcome.rpc.failed_count(), 1);
  EXPECT_EQ(outcome.policy.attempt_count(), 3);
  EXPECT_EQ(servers.call_count(), 3);
  EXPECT_THAT(outcome.errors, Contains("UNAVAILABLE: not now"));
}

TEST(PoliciesTest, OnlyListedCodesAreRetried) {
  for (const auto& [error, attempts] : std::map<const char*, int>{
           {"UNAVAILABLE: not now", 2}, {"INTERNAL: UNAVAILABLE: no", 1}}) {
    ScriptedServers servers(FailFirst(100, error));
    const PolicyOutcome outcome(servers.Run(PolicyTest(
        "retry { max_attempts: 2 codes: 'ABORTED' codes: 'UNAVAILABLE' }")));
    EXPECT_EQ(outcome.policy.attempt_count(), attempts) << error;
    EXPECT_EQ(outcome.rpc.failed_count(), 1);
  }
}

// Attempts begin at 0, 11, 32 ms; the next pause would end at 73 ms.
TEST(PoliciesTest, TheDeadlineCoversAllAttempts) {
  ScriptedServers servers(FailFirst(100, "UNAVAILABLE: not now"));
  const PolicyOutcome outcome(
      servers.Run(PolicyTest(kRetryTenTimes, "", 1, "deadline: '50ms'")));
  EXPECT_EQ(outcome.policy.attempt_count(), 3);
  EXPECT_EQ(outcome.rpc.failed_count(), 1);
}

// As libraries do that look at deadlines now and then.
ScriptedServers ServersThatAreReadAfter(int64_t time_ns) {
  return ScriptedServers([time_ns](const protocol::ClientCall&, int64_t) {
    return Answer{.time_ns = time_ns, .is_read_late = true};
  });
}

TEST(DeadlinesTest, AResponseThatIsReadAfterTheDeadlineIsNoSuccess) {
  for (const auto& [time_ns, succeeded] :
       std::map<int64_t, int>{{10 * kMs - 1, 1},
                              {10 * kMs + kMs / 10, 0},
                              {10 * kMs + protocol::kStandstillNs, 0},
                              // In time, and read after a standstill.
                              {11 * kMs + protocol::kStandstillNs, 1}}) {
    DistributedSystemDescription test =
        PolicyTest("", "", 1, "deadline: '10ms'");
    test.mutable_rpc_descriptions(0)->clear_policy();
    ScriptedServers servers = ServersThatAreReadAfter(time_ns);
    const PolicyOutcome outcome(servers.Run(test));
    EXPECT_EQ(outcome.rpc.succeeded_count(), succeeded) << time_ns;
    EXPECT_EQ(outcome.rpc.failed_count(), 1 - succeeded) << time_ns;
    EXPECT_EQ(absl::c_count_if(outcome.errors,
                               [](const std::string& error) {
                                 return absl::StartsWith(error,
                                                         "DEADLINE_EXCEEDED: ");
                               }),
              1 - succeeded)
        << time_ns;
  }
}

TEST(DeadlinesTest, AnAttemptThatIsReadLateIsGivenUp) {
  ScriptedServers servers = ServersThatAreReadAfter(21 * kMs);
  const PolicyOutcome outcome(servers.Run(PolicyTest(
      "attempt_deadline: '20ms' "
      "retry { max_attempts: 3 initial_backoff: '5ms' jitter: 'none' }")));
  EXPECT_EQ(outcome.rpc.failed_count(), 1);
  EXPECT_EQ(outcome.policy.attempt_count(), 3);
  EXPECT_EQ(outcome.policy.abandoned_attempt_count(), 3);
  EXPECT_THAT(outcome.errors, Contains(HasSubstr("after the deadline")));
}

TEST(PoliciesTest, AttemptsHaveTheEarlierDeadline) {
  std::vector<int64_t> deadlines_ms;
  ScriptedServers servers(
      [&](const protocol::ClientCall& call, int64_t now_ns) {
        deadlines_ms.push_back((call.deadline_ns - now_ns) / kMs);
        return Answer{1000 * kMs};
      });
  const PolicyOutcome outcome(servers.Run(PolicyTest(
      "attempt_deadline: '20ms' "
      "retry { max_attempts: 5 initial_backoff: '5ms' jitter: 'none' }",
      "", 1, "deadline: '60ms'")));
  EXPECT_THAT(deadlines_ms, ElementsAre(20, 20, AnyOf(4, 5)));
  EXPECT_EQ(outcome.rpc.failed_count(), 1);
  // The caller gave them up.
  EXPECT_EQ(outcome.policy.abandoned_attempt_count(), 3);
  EXPECT_EQ(outcome.policy.uncancelled_attempt_count(), 0);
}

TEST(PoliciesTest, TheBudgetLimitsRetries) {
  ScriptedServers servers([](const protocol::ClientCall&, int64_t) {
    return Answer{kMs, "ABORTED: no"};
  });
  const PolicyOutcome outcome(servers.Run(
      PolicyTest("retry { max_attempts: 4 initial_backoff: '1ms' "
                 "budget { ratio: 0.25 min_per_second: 0 window: '1000s' } }",
                 "max_iteration_count: 400 open_loop_interval_ns: 1000000")));
  EXPECT_EQ(outcome.rpc.failed_count(), 400);
  EXPECT_EQ(outcome.policy.request_count(), 400);
  EXPECT_NEAR(outcome.policy.retry_count(), 100, 1);
  // Each request ends at its first refusal, or after four attempts.
  EXPECT_GT(outcome.policy.refused_by_budget_count(), 300);
}

TEST(PoliciesTest, FurtherAttemptsAvoidServersThatWereTried) {
  std::vector<int> tried;
  ScriptedServers servers([&](const protocol::ClientCall& call, int64_t) {
    tried.push_back(call.server_instance);
    return Answer{kMs, "UNAVAILABLE: not now"};
  });
  const PolicyOutcome outcome(
      servers.Run(PolicyTest("load_balancing: 'random' "
                             "retry { max_attempts: 6 initial_backoff: '1ms' }",
                             "", /*servers=*/5)));
  ASSERT_EQ(tried.size(), 6);
  EXPECT_EQ(std::set<int>(tried.begin(), tried.begin() + 5).size(), 5);
  // Counted under the server of the outcome.
  EXPECT_EQ(outcome.failed_by_server.at(absl::StrCat("server/", tried[5])), 1);
}

TEST(PoliciesTest, EachIterationOfABalancedRpcSendsOneRequest) {
  for (const char* kind :
       {"round_robin", "random", "two_choices", "least_in_flight"}) {
    ScriptedServers servers(
        [](const protocol::ClientCall&, int64_t) { return Answer{kMs}; });
    const PolicyOutcome outcome(servers.Run(
        PolicyTest(absl::Substitute("load_balancing: '$0'", kind),
                   "max_iteration_count: 400 max_parallel_iterations: 8",
                   /*servers=*/4)));
    EXPECT_EQ(servers.call_count(), 400) << kind;
    ASSERT_EQ(outcome.succeeded_by_server.size(), 4) << kind;
    for (const auto& [server, count] : outcome.succeeded_by_server) {
      EXPECT_NEAR(count, 100, 45) << kind << " " << server;
    }
  }
}

TEST(PoliciesTest, TheConcurrencyLimitRefuses) {
  ScriptedServers servers(
      [](const protocol::ClientCall&, int64_t) { return Answer{10 * kMs}; });
  const PolicyOutcome outcome(servers.Run(
      PolicyTest("concurrency_limit { limit: 3 }",
                 "max_iteration_count: 5 open_loop_interval_ns: 1")));
  EXPECT_EQ(outcome.rpc.succeeded_count(), 3);
  EXPECT_EQ(outcome.rpc.failed_count(), 2);
  EXPECT_EQ(outcome.policy.attempt_count(), 3);
  EXPECT_EQ(outcome.policy.refused_by_limit_count(), 2);
  EXPECT_EQ(servers.most_in_flight(), 3);
  EXPECT_EQ(outcome.policy.concurrency_limit().max(), 3);
  EXPECT_THAT(outcome.errors, Contains(HasSubstr("RESOURCE_EXHAUSTED")));
}

// By default, what the caller itself refuses is not retried.
TEST(PoliciesTest, RefusalsAreRetriedIfTheirCodeIsListed) {
  for (const bool listed : {false, true}) {
    ScriptedServers servers(
        [](const protocol::ClientCall&, int64_t) { return Answer{10 * kMs}; });
    const PolicyOutcome outcome(servers.Run(PolicyTest(
        absl::Substitute("concurrency_limit { limit: 1 } retry { "
                         "initial_backoff: '20ms' jitter: 'none' $0 }",
                         listed ? "codes: 'RESOURCE_EXHAUSTED'" : ""),
        "max_iteration_count: 2 open_loop_interval_ns: 1000000")));
    EXPECT_EQ(outcome.rpc.succeeded_count(), listed ? 2 : 1);
    EXPECT_EQ(outcome.policy.refused_by_limit_count(), 1);
    EXPECT_EQ(outcome.policy.retry_count(), listed ? 1 : 0);
  }
}

TEST(PoliciesTest, WorkersShareTheConcurrencyLimit) {
  ScriptedServers servers(
      [](const protocol::ClientCall&, int64_t) { return Answer{10 * kMs}; });
  const PolicyOutcome outcome(servers.Run(
      PolicyTest("concurrency_limit { limit: 5 }",
                 "max_iteration_count: 100 open_loop_interval_ns: 1000"),
      /*workers=*/2));
  EXPECT_EQ(outcome.rpc.succeeded_count(), 5);
  EXPECT_EQ(servers.most_in_flight(), 5);
  EXPECT_EQ(outcome.policy.concurrency_limit().min(), 5);
  EXPECT_EQ(outcome.policy.concurrency_limit().max(), 5);
}

// One of three servers fails. Its circuit breaker opens, and the balancer then
// avoids it, except for a probe every 50 ms.
TEST(PoliciesTest, TheCircuitBreakerTakesAServerOut) {
  std::map<int, int> calls;
  ScriptedServers servers([&](const protocol::ClientCall& call, int64_t) {
    ++calls[call.server_instance];
    return Answer{kMs, call.server_instance == 1 ? "INTERNAL: broken" : ""};
  });
  const PolicyOutcome outcome(servers.Run(PolicyTest(
      "load_balancing: 'round_robin' circuit_breaker { "
      "failure_ratio: 0.5 min_attempts: 10 window: '1s' open: '50ms' }",
      "max_iteration_count: 1000 open_loop_interval_ns: 1000000",
      /*servers=*/3)));
  EXPECT_EQ(outcome.rpc.failed_count(), calls[1]);
  EXPECT_NEAR(calls[1], 10 + 970 / 51, 2);
  EXPECT_EQ(outcome.policy.circuit_opened_count(), calls[1] - 9);
  EXPECT_EQ(outcome.policy.refused_by_circuit_breaker_count(), 0);
}

TEST(PoliciesTest, AnOpenCircuitBreakerRefuses) {
  ScriptedServers servers([](const protocol::ClientCall&, int64_t) {
    return Answer{kMs, "INTERNAL: no"};
  });
  const PolicyOutcome outcome(servers.Run(
      PolicyTest("circuit_breaker { min_attempts: 5 open: '1h' }",
                 "max_iteration_count: 50 open_loop_interval_ns: 2000000")));
  EXPECT_EQ(servers.call_count(), 5);
  EXPECT_EQ(outcome.rpc.failed_count(), 50);
  EXPECT_EQ(outcome.policy.refused_by_circuit_breaker_count(), 45);
  EXPECT_EQ(outcome.policy.circuit_opened_count(), 1);
}

// A closed loop whose requests are all refused must not spin: within a second,
// its pauses double 20 times.
TEST(PoliciesTest, AClosedLoopPausesAfterRefusals) {
  ScriptedServers servers([](const protocol::ClientCall&, int64_t) {
    return Answer{kMs, "INTERNAL: no"};
  });
  const PolicyOutcome outcome(servers.Run(PolicyTest(
      "circuit_breaker { min_attempts: 1 open: '1h' }", "max_duration: '1s'")));
  EXPECT_LE(outcome.policy.request_count(), 22);
}

// Whatever is in flight, pauses or waits when the traffic ends, each request
// ends once, and so does each attempt.
TEST(PoliciesTest, EverythingEndsWithTheTraffic) {
  for (const char* policy :
       {"retry { max_attempts: 100 initial_backoff: '1h' max_backoff: '2h' }",
        "hedging { max_attempts: 3 delay: '1ms' }", "quorum { answers: 2 }",
        "quorum { answers: 2 rest: 'ignore' } "
        "hedging { max_attempts: 3 delay: '1ms' }"}) {
    for (const bool can_cancel : {false, true}) {
      ScriptedServers servers(
          [calls = 0](const protocol::ClientCall&, int64_t) mutable {
            return ++calls % 3 == 0 ? Answer{kMs, "INTERNAL: no"}
                                    : Answer{3'600'000 * kMs};
          },
          can_cancel);
      const PolicyOutcome outcome(servers.Run(
          PolicyTest(policy, "open_loop_interval_ns: 1000000", /*servers=*/3),
          /*workers=*/2, /*limit_ns=*/100 * kMs));
      const PolicyStatistics& counts = outcome.policy;
      EXPECT_GT(counts.attempt_count(), 200) << policy;
      EXPECT_EQ(counts.attempt_count(), servers.call_count()) << policy;
      EXPECT_EQ(counts.attempt_count(), counts.succeeded_attempt_count() +
                                            counts.failed_attempt_count() +
                                            counts.abandoned_attempt_count())
          << policy;
      EXPECT_EQ(counts.request_count(), outcome.rpc.succeeded_count() +
                                            outcome.rpc.failed_count() +
                                            counts.not_needed_count())
          << policy;
    }
  }
}

// All attempts of a traced request carry its context, also a late loser, whose
// request has ended and whose objects are in use again.
TEST(PoliciesTest, AttemptsCarryTheContextOfTheirRequest) {
  std::map<std::string, int> attempts;
  ScriptedServers servers([&](const protocol::ClientCall& call, int64_t) {
    return ++attempts[std::string(call.trace_context)] == 1 ? Answer{50 * kMs}
                                                            : Answer{kMs};
  });
  servers.Run(PolicyTest("hedging { delay: '2ms' }", "max_iteration_count: 20",
                         1, "tracing_interval: 1"));
  EXPECT_EQ(attempts.size(), 20);
  EXPECT_THAT(attempts, Not(Contains(::testing::Key(""))));
  for (const auto& [trace, count] : attempts) EXPECT_EQ(count, 2);
}

// A root calls leaves with a policy while it handles a request, over the
// loopback driver.
TEST(PoliciesTest, HandlersCallWithPolicies) {
  VirtualTimeSystem system(
      R"pb(
        services { name: "client" count: 1 }
        services { name: "root" count: 2 }
        services { name: "leaf" count: 3 }
        default_protocol: "loopback"
        activity_configs {
          name: "wait"
          activity_settings { name: "activity_func" string_value: "Wait" }
          activity_settings { name: "mean_us" int64_value: 1000 }
          activity_settings { name: "distribution" string_value: "exponential" }
        }
        rpc_descriptions {
          name: "ask"
          client: "client"
          server: "root"
          policy { load_balancing: "two_choices" }
        }
        rpc_descriptions {
          name: "look"
          client: "root"
          server: "leaf"
          policy {
            hedging { delay: "1ms" }
            quorum { answers: 2 }
          }
        }
        action_lists { name: "client" action_names: "run" }
        action_lists { name: "ask" action_names: "fan_out" }
        action_lists { name: "look" action_names: "work" }
        actions {
          name: "run"
          rpc_name: "ask"
          iterations { max_iteration_count: 500 max_parallel_iterations: 5 }
        }
        actions { name: "fan_out" rpc_name: "look" }
        actions { name: "work" activity_config_name: "wait" })pb",
      /*workers=*/2);
  ASSERT_TRUE(system.Run());
  system.StopAll("the test is over");
  const ServiceLogs logs = system.Finish();
  int64_t quorums = 0;
  for (const auto& [instance, log] : logs.instance_logs()) {
    for (const auto& [rpc, counts] : log.policy_statistics()) {
      EXPECT_EQ(counts.attempt_count(), counts.succeeded_attempt_count() +
                                            counts.failed_attempt_count() +
                                            counts.abandoned_attempt_count());
      ASSERT_TRUE(results::ValidateCounters(counts, {}).ok());
      quorums += static_cast<int64_t>(
          results::HistogramOf(counts.quorum_time_ns()).count());
    }
  }
  EXPECT_EQ(quorums, 500);
}

}  // namespace
}  // namespace distbench::engine
