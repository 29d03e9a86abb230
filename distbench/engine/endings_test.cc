// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Early ends of traffic, on simulated time: by an action, by a timeout or by an
// overload.

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "distbench/engine/engine.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(EngineTest, CancellingActionEndsOwnTrafficAndServesOn) {
  VirtualTimeSystem system(R"pb(
    services { name: "a" count: 1 }
    services { name: "b" count: 1 }
    default_protocol: "loopback"
    delay_distribution_configs {
      name: "ten_ms"
      field_names: "action_delay_ns"
      pmf_points {
        pmf: 1
        data_points { exact: 10000000 }
      }
    }
    rpc_descriptions { name: "to_b" client: "a" server: "b" }
    rpc_descriptions { name: "to_a" client: "b" server: "a" }
    action_lists { name: "a" action_names: "load" action_names: "end" }
    action_lists { name: "b" action_names: "probe" }
    action_lists { name: "to_b" }
    action_lists { name: "to_a" }
    actions {
      name: "load"
      rpc_name: "to_b"
      iterations { open_loop_interval_ns: 1000000 }
    }
    actions {
      name: "end"
      delay_distribution_name: "ten_ms"
      cancel_traffic_when_done: true
    }
    actions {
      name: "probe"
      rpc_name: "to_a"
      iterations { open_loop_interval_ns: 1000000 max_iteration_count: 50 }
    }
  )pb");
  ASSERT_TRUE(system.Run(1'000 * kMs));
  const ServiceLogs logs = system.Finish();
  EXPECT_NEAR(StatisticsOf(logs, "a/0", "b/0", 0).succeeded_count(), 10, 1);
  EXPECT_EQ(StatisticsOf(logs, "b/0", "a/0", 1).succeeded_count(), 50);
  EXPECT_THAT(logs.instance_logs().at("a/0").engine_error_message(),
              HasSubstr("\"end\""));
}

// Everything that waits is visited once, not once per action.
TEST(EngineTest, ManyActionsMayEndTheTrafficOneAfterTheOther) {
  VirtualTimeSystem system(R"pb(
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    default_protocol: "loopback"
    delay_distribution_configs {
      name: "about_a_second"
      field_names: "action_delay_ns"
      pmf_points {
        pmf: 1
        data_points { lower: 1000000000 upper: 2000000000 }
      }
    }
    rpc_descriptions { name: "query" client: "client" server: "server" }
    action_lists { name: "client" action_names: "run" }
    action_lists { name: "query" action_names: "end" }
    actions {
      name: "run"
      rpc_name: "query"
      iterations { max_parallel_iterations: 50000 max_iteration_count: 50000 }
    }
    actions {
      name: "end"
      delay_distribution_name: "about_a_second"
      cancel_traffic_when_done: true
    }
  )pb");
  ASSERT_TRUE(system.Run());
  EXPECT_EQ(
      StatisticsOf(system.Finish(), "client/0", "server/0").succeeded_count(),
      50'000);
}

TEST(EngineTest, StopEndsAnOpenLoopWithNothingInFlight) {
  VirtualTimeSystem system(
      ClientServer("iterations { open_loop_interval_ns: 100000000000 }"));
  system.RunFor(1'000 * kMs);
  EXPECT_FALSE(system.finished());
  system.engine("client/0").Stop("the user has lost patience");
  system.RunFor(1 * kMs);
  EXPECT_TRUE(system.finished());
  EXPECT_EQ(
      system.Finish().instance_logs().at("client/0").engine_error_message(),
      "the user has lost patience");
}

// They may reuse the memory of RPCs that were sent before.
TEST(EngineTest, RpcsThatAreNeverSentHaveNoSize) {
  // The last eight wait for room in the loopback driver's queue.
  constexpr int kParallel = (1 << 17) + 8;
  VirtualTimeSystem system(absl::Substitute(
      R"pb(
        services { name: "client" count: 1 }
        services { name: "server" count: 1 }
        default_protocol: "loopback"
        payload_descriptions { name: "small" size: 100 }
        delay_distribution_configs {
          name: "a_second"
          field_names: "action_delay_ns"
          pmf_points {
            pmf: 1
            data_points { exact: 1000000000 }
          }
        }
        rpc_descriptions {
          name: "query"
          client: "client"
          server: "server"
          request_payload_name: "small"
          response_payload_name: "small"
        }
        action_lists {
          name: "client"
          action_names: "answered"
          action_names: "too_late"
        }
        action_lists { name: "query" }
        actions {
          name: "answered"
          rpc_name: "query"
          iterations { max_parallel_iterations: $0 max_iteration_count: $0 }
        }
        actions {
          name: "too_late"
          rpc_name: "query"
          delay_distribution_name: "a_second"
          iterations { max_parallel_iterations: $0 max_iteration_count: $0 }
        })pb",
      kParallel));
  // All are in progress at once, so both runs use all of the same memory.
  system.FreezeBetween("server/0", system.start_ns(),
                       system.start_ns() + 100 * kMs);
  system.RunFor(500 * kMs);
  system.FreezeBetween("server/0", system.start_ns() + 500 * kMs,
                       system.start_ns() + 5'000 * kMs);
  system.RunFor(1'500 * kMs);
  system.StopAll("enough");
  system.RunFor(10'000 * kMs);
  const ServiceLogs logs = system.Finish();
  const RpcPerformanceLog& log = LogOf(logs, "client/0", "server/0", 0);
  EXPECT_EQ(log.statistics().succeeded_count(), kParallel);
  EXPECT_EQ(log.statistics().failed_count(), kParallel);
  int unsent = 0;
  for (const RpcSample& sample : log.failed_rpc_samples()) {
    EXPECT_EQ(sample.response_size(), 0);
    unsent += sample.request_size() == 0;
  }
  EXPECT_EQ(unsent, 8);
}

TEST(EngineTest, PendingRpcsBeyondTheLimitEndTheTest) {
  VirtualTimeSystem system(
      ClientServer("iterations { max_parallel_iterations: 11 "
                   "max_iteration_count: 100000 }",
                   "overload_limits { max_pending_rpcs: 10 "
                   "max_pending_work: 1000 }"));
  ASSERT_TRUE(system.Run());
  ASSERT_THAT(system.overloads(), SizeIs(1));
  EXPECT_EQ(system.overloads()[0].code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(system.overloads()[0].message(),
            "Too many RPCs pending: 11, but the test's "
            "overload_limits.max_pending_rpcs is 10; raise it, or have fewer "
            "in flight: send at a lower rate, or limit "
            "max_parallel_iterations");
}

// Of three clients, each of which stays within the limit.
std::string TooMuchForAServer(absl::string_view handler,
                              absl::string_view service,
                              absl::string_view more) {
  return absl::Substitute(
      R"pb(
        services { name: "client" count: 3 }
        services { name: "server" count: 1 $1 }
        default_protocol: "loopback"
        overload_limits { max_pending_rpcs: 10 }
        delay_distribution_configs {
          name: "a_second"
          field_names: "action_delay_ns"
          pmf_points {
            pmf: 1
            data_points { exact: 1000000000 }
          }
        }
        rpc_descriptions { name: "query" client: "client" server: "server" }
        action_lists { name: "client" action_names: "run" }
        action_lists { name: "query" $0 }
        actions {
          name: "run"
          rpc_name: "query"
          iterations { max_parallel_iterations: 8 }
        }
        actions { name: "work" delay_distribution_name: "a_second" } $2)pb",
      handler, service, more);
}

TEST(EngineTest, DelayedAnswersBeyondTheLimitEndTheTest) {
  VirtualTimeSystem system(
      TooMuchForAServer("", "",
                        "server_faults { name: 'fault' service: 'server' "
                        "extra_latency: '1s' }"));
  ASSERT_TRUE(system.Run());
  ASSERT_THAT(system.overloads(), SizeIs(1));
  EXPECT_THAT(system.overloads()[0].message(), HasSubstr("unanswered"));
}

TEST(EngineTest, WaitingRequestsBeyondTheLimitEndTheTest) {
  VirtualTimeSystem system(TooMuchForAServer(
      "action_names: 'work'", "admission { max_running: 1 }", ""));
  ASSERT_TRUE(system.Run());
  ASSERT_THAT(system.overloads(), SizeIs(1));
  EXPECT_THAT(system.overloads()[0].message(), HasSubstr("unanswered"));
}

// A handler that answers early and continues has no RPC in flight.
TEST(EngineTest, HandlersBeyondTheLimitEndTheTest) {
  VirtualTimeSystem system(R"pb(
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    default_protocol: "loopback"
    overload_limits { max_pending_work: 100 }
    rpc_descriptions { name: "query" client: "client" server: "server" }
    action_lists { name: "client" action_names: "run" }
    action_lists { name: "query" action_names: "answer" action_names: "go_on" }
    actions {
      name: "run"
      rpc_name: "query"
      iterations { max_iteration_count: 1000000 }
    }
    actions { name: "answer" send_response_when_done: true }
    actions {
      name: "go_on"
      iterations { open_loop_interval_ns: 1000000000 }
    }
  )pb");
  ASSERT_TRUE(system.Run());
  ASSERT_THAT(system.overloads(), SizeIs(1));
  EXPECT_THAT(system.overloads()[0].message(),
              AllOf(HasSubstr("Too many requests being handled on a worker"),
                    HasSubstr("overload_limits.max_pending_work (by default "
                              "its max_pending_rpcs) is 100; raise it, or"),
                    HasSubstr("admission")));
}

TEST(EngineTest, IterationsBeyondTheLimitEndTheTest) {
  VirtualTimeSystem system(R"pb(
    services { name: "lonely" count: 1 }
    default_protocol: "loopback"
    overload_limits { max_pending_rpcs: 7 max_pending_work: 100 }
    activity_configs {
      name: "wait"
      activity_settings { name: "activity_func" string_value: "SleepFor" }
      activity_settings { name: "duration_us" int64_value: 1000000 }
    }
    action_lists { name: "lonely" action_names: "run" }
    actions {
      name: "run"
      activity_config_name: "wait"
      iterations { open_loop_interval_ns: 1000 }
    }
  )pb");
  ASSERT_TRUE(system.Run());
  ASSERT_THAT(system.overloads(), SizeIs(1));
  EXPECT_THAT(system.overloads()[0].message(),
              AllOf(HasSubstr("Too many iterations in flight on a worker"),
                    HasSubstr("max_pending_work"), HasSubstr("is 100"),
                    HasSubstr("max_parallel_iterations")));
}

}  // namespace
}  // namespace distbench::engine
