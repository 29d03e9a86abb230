// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Closed loops: the worker reuses the objects of one iteration for the next
// where it can, and everything that differs between them must be reset.

#include <cstdint>
#include <set>
#include <string>

#include "absl/strings/substitute.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::Gt;
using ::testing::SizeIs;

// `rpc` and `iterations` complete the client's RPC and action, `more` the
// config; handlers take half a millisecond.
std::string Loop(const std::string& rpc, const std::string& iterations,
                 const std::string& more = "") {
  return absl::Substitute(
      R"pb(
        services { name: "client" count: 1 }
        services { name: "server" count: 1 }
        default_protocol: "loopback"
        delay_distribution_configs {
          name: "half_a_ms"
          field_names: "action_delay_ns"
          pmf_points {
            pmf: 1
            data_points { exact: 500000 }
          }
        }
        rpc_descriptions { name: "query" client: "client" server: "server" $0 }
        action_lists { name: "client" action_names: "run" }
        action_lists { name: "query" action_names: "work" }
        actions { name: "run" rpc_name: "query" iterations { $1 } }
        actions { name: "work" delay_distribution_name: "half_a_ms" } $2)pb",
      rpc, iterations, more);
}

TEST(ClosedLoopTest, DrawsTheSizeOfEachRequest) {
  VirtualTimeSystem system(Loop(R"(request_payload_name: "drawn")",
                                "max_iteration_count: 200",
                                R"pb(
                                  size_distribution_configs {
                                    name: "sizes"
                                    pmf_points {
                                      pmf: 1
                                      data_points { lower: 1000 upper: 100000 }
                                    }
                                  }
                                  payload_descriptions {
                                    name: "drawn"
                                    size_distribution_name: "sizes"
                                  })pb"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  std::set<int64_t> sizes;
  for (const RpcSample& sample :
       LogOf(logs, "client/0", "server/0", 0).successful_rpc_samples()) {
    sizes.insert(sample.request_size());
  }
  EXPECT_THAT(sizes, SizeIs(Gt(100)));
}

TEST(ClosedLoopTest, EachRpcHasItsOwnDeadline) {
  VirtualTimeSystem system(Loop("deadline_us: 900", "max_iteration_count: 10"));
  ASSERT_TRUE(system.Run());
  const RpcStatistics statistics =
      StatisticsOf(system.Finish(), "client/0", "server/0");
  EXPECT_EQ(statistics.succeeded_count(), 10);
  EXPECT_EQ(statistics.failed_count(), 0);
}

TEST(ClosedLoopTest, TracesWhatIsToBeTraced) {
  VirtualTimeSystem system(
      Loop("tracing_interval: 3", "max_iteration_count: 9"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  int64_t traced = 0;
  for (const RpcSample& sample :
       LogOf(logs, "client/0", "server/0", 0).successful_rpc_samples()) {
    if (!sample.has_trace_context()) continue;
    ++traced;
    EXPECT_EQ(sample.trace_context().action_iterations(0) % 3, 0);
  }
  EXPECT_EQ(traced, 3);
}

TEST(ClosedLoopTest, NestedLoopsTraceEachIteration) {
  VirtualTimeSystem system(R"pb(
    services { name: "client" count: 1 }
    services { name: "root" count: 1 }
    services { name: "leaf" count: 1 }
    default_protocol: "loopback"
    rpc_descriptions {
      name: "root_query"
      client: "client"
      server: "root"
      tracing_interval: 1
    }
    rpc_descriptions { name: "leaf_query" client: "root" server: "leaf" }
    action_lists { name: "client" action_names: "run" }
    action_lists { name: "root_query" action_names: "ask" }
    action_lists { name: "leaf_query" }
    actions { name: "run" rpc_name: "root_query" }
    actions {
      name: "ask"
      rpc_name: "leaf_query"
      iterations { max_iteration_count: 3 }
    }
  )pb");
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  std::set<int64_t> iterations;
  for (const RpcSample& sample :
       LogOf(logs, "root/0", "leaf/0", 1).successful_rpc_samples()) {
    iterations.insert(sample.trace_context().action_iterations(1));
  }
  EXPECT_EQ(iterations, (std::set<int64_t>{0, 1, 2}));
}

// The request says whether it belongs to the warm-up; RPCs of its handler
// inherit that.
TEST(ClosedLoopTest, WarmupEndsForServersToo) {
  VirtualTimeSystem system(R"pb(
    services { name: "client" count: 1 }
    services { name: "root" count: 1 }
    services { name: "leaf" count: 1 }
    default_protocol: "loopback"
    rpc_descriptions { name: "root_query" client: "client" server: "root" }
    rpc_descriptions { name: "leaf_query" client: "root" server: "leaf" }
    action_lists { name: "client" action_names: "run" }
    action_lists { name: "root_query" action_names: "ask" }
    action_lists { name: "leaf_query" }
    actions {
      name: "run"
      rpc_name: "root_query"
      iterations { max_iteration_count: 20 warmup_iterations: 5 }
    }
    actions { name: "ask" rpc_name: "leaf_query" }
  )pb");
  ASSERT_TRUE(system.Run());
  const RpcStatistics statistics =
      StatisticsOf(system.Finish(), "root/0", "leaf/0", 1);
  EXPECT_EQ(statistics.warmup_count(), 5);
  EXPECT_EQ(statistics.succeeded_count(), 15);
}

TEST(ClosedLoopTest, EachIterationAsksAllPeers) {
  VirtualTimeSystem system(R"pb(
    services { name: "member" count: 3 }
    default_protocol: "loopback"
    rpc_descriptions { name: "query" client: "member" server: "member" }
    action_lists { name: "member" action_names: "run" }
    action_lists { name: "query" }
    actions {
      name: "run"
      rpc_name: "query"
      iterations { max_iteration_count: 10 max_parallel_iterations: 2 }
    }
  )pb");
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_EQ(StatisticsOf(logs, "member/0", "member/1").succeeded_count(), 10);
  EXPECT_EQ(StatisticsOf(logs, "member/0", "member/2").succeeded_count(), 10);
}

TEST(ClosedLoopTest, EachIterationDrawsWhetherItAsksTheOnlyPeer) {
  VirtualTimeSystem system(Loop(R"(fanout_filter: "stochastic{0.5:0,0.5:1}")",
                                "max_iteration_count: 1000"));
  ASSERT_TRUE(system.Run());
  // Within six standard deviations.
  EXPECT_NEAR(
      StatisticsOf(system.Finish(), "client/0", "server/0").succeeded_count(),
      500, 95);
}

TEST(ClosedLoopTest, EndsWithItsDuration) {
  VirtualTimeSystem system(Loop("", "max_duration_us: 5200"));
  ASSERT_TRUE(system.Run(1'000'000'000));
  // One every half millisecond, from 0 to 5 ms.
  EXPECT_EQ(
      StatisticsOf(system.Finish(), "client/0", "server/0").succeeded_count(),
      11);
}

// The server refuses at once.
TEST(ClosedLoopTest, PausesAfterAFailure) {
  VirtualTimeSystem system(Loop("", ""));
  system.RunFor(10'000'000);
  system.engine("server/0").Stop("had enough");
  system.RunFor(100'000'000);
  EXPECT_FALSE(system.finished());
  // After pauses of 1, 2, 4, ... us, whose sum is 100 ms after 16 of them.
  const int64_t failed = system.engine("client/0").progress().failed_count();
  EXPECT_GT(failed, 12);
  EXPECT_LT(failed, 20);
}

// The loop's iterations run a list, whose RPC is no loop.
TEST(ClosedLoopTest, PausesAfterAFailureInAList) {
  VirtualTimeSystem system(R"pb(
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    default_protocol: "loopback"
    server_faults { name: "fault" service: "server" error_code: "INTERNAL" }
    rpc_descriptions { name: "query" client: "client" server: "server" }
    action_lists { name: "client" action_names: "run" }
    action_lists { name: "outer" action_names: "inner" }
    action_lists { name: "inner" action_names: "ask" }
    action_lists { name: "query" }
    actions {
      name: "run"
      action_list_name: "outer"
      iterations {}
    }
    actions { name: "inner" action_list_name: "inner" }
    actions { name: "ask" rpc_name: "query" }
  )pb");
  system.RunFor(100'000'000);
  EXPECT_FALSE(system.finished());
  // As in PausesAfterAFailure.
  const int64_t failed = system.engine("client/0").progress().failed_count();
  EXPECT_GT(failed, 12);
  EXPECT_LT(failed, 20);
}

// A pause would then be of our own making.
TEST(ClosedLoopTest, AListOfWhichAPartSucceedsDoesNotPause) {
  VirtualTimeSystem system(R"pb(
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    services { name: "other" count: 1 }
    default_protocol: "loopback"
    server_faults { name: "fault" service: "server" error_code: "INTERNAL" }
    rpc_descriptions { name: "query" client: "client" server: "server" }
    rpc_descriptions { name: "fetch" client: "client" server: "other" }
    action_lists { name: "client" action_names: "run" }
    action_lists { name: "both" action_names: "ask" action_names: "get" }
    action_lists { name: "query" }
    action_lists { name: "fetch" }
    actions {
      name: "run"
      action_list_name: "both"
      iterations {}
    }
    actions { name: "ask" rpc_name: "query" }
    actions { name: "get" rpc_name: "fetch" }
  )pb");
  system.RunFor(1'000'000);
  EXPECT_GT(system.engine("client/0").progress().failed_count(), 90);
}

// How many RPCs succeed in 400 ms if some fail at once.
int64_t SucceededOf(int in_flight, double failing) {
  VirtualTimeSystem system(Loop(
      "",
      absl::Substitute("max_parallel_iterations: $0 max_duration_us: 400000",
                       in_flight),
      failing == 0
          ? ""
          : absl::Substitute("server_faults { name: 'fault' "
                             "service: 'server' error_code: 'INTERNAL' "
                             "probability: $0 }",
                             failing)));
  EXPECT_TRUE(system.Run(1'000'000'000));
  const RpcStatistics statistics =
      StatisticsOf(system.Finish(), "client/0", "server/0");
  EXPECT_EQ(statistics.failed_count() > 0, failing > 0);
  return statistics.succeeded_count();
}

// Answers take half a millisecond, and failures next to nothing.
TEST(ClosedLoopTest, FailuresOfAFewPauseNeitherThemselvesNorOthers) {
  for (const int in_flight : {1, 100}) {
    const int64_t without = SucceededOf(in_flight, 0);
    for (const double failing : {0.01, 0.1}) {
      EXPECT_GE(SucceededOf(in_flight, failing), 0.97 * without)
          << in_flight << " in flight, " << failing << " of them fail";
    }
  }
}

// Of two that fail in turn, neither shortens the other's pause.
TEST(ClosedLoopTest, EachPlacePausesByItself) {
  VirtualTimeSystem system(Loop("", "max_parallel_iterations: 2"));
  system.RunFor(10'200'000);
  system.engine("server/0").Stop("had enough");
  system.RunFor(100'000'000);
  const int64_t failed = system.engine("client/0").progress().failed_count();
  EXPECT_GT(failed, 24);
  EXPECT_LT(failed, 40);
}

TEST(ClosedLoopTest, EndsWithItsDurationWhileItPauses) {
  VirtualTimeSystem system(
      Loop("", "max_parallel_iterations: 3 max_duration_us: 105000"));
  system.RunFor(10'000'000);
  system.engine("server/0").Stop("had enough");
  // The pauses that begin after about 65 ms take as long again.
  EXPECT_TRUE(system.Run(105'100'000));
}

TEST(ClosedLoopTest, EndsWithItsCountWhileItPauses) {
  VirtualTimeSystem system(
      Loop("", "max_parallel_iterations: 3 max_iteration_count: 3"));
  system.engine("server/0").Stop("had enough");
  const int64_t start_ns = system.clock().MonotonicNs();
  ASSERT_TRUE(system.Run());
  EXPECT_LT(system.clock().MonotonicNs() - start_ns, 1'100'000);
  EXPECT_EQ(system.engine("client/0").progress().failed_count(), 3);
}

TEST(ClosedLoopTest, StopsWhileItPauses) {
  VirtualTimeSystem system(Loop("", "max_parallel_iterations: 3"));
  system.RunFor(10'000'000);
  system.engine("server/0").Stop("had enough");
  system.RunFor(200'000'000);
  system.engine("client/0").Stop("over");
  system.RunFor(100'000);
  EXPECT_TRUE(system.finished());
}

// A closed loop in a list that an open loop runs: the first RPC of each list
// has an intended time, and those after it follow from its end.
TEST(ClosedLoopTest, OnlyTheFirstIterationInheritsAnIntendedTime) {
  VirtualTimeSystem system(R"pb(
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    default_protocol: "loopback"
    rpc_descriptions { name: "query" client: "client" server: "server" }
    action_lists { name: "client" action_names: "run" }
    action_lists { name: "three" action_names: "ask" }
    action_lists { name: "query" }
    actions {
      name: "run"
      action_list_name: "three"
      iterations { open_loop_interval_ns: 1000000 max_iteration_count: 10 }
    }
    actions {
      name: "ask"
      rpc_name: "query"
      iterations { max_iteration_count: 3 }
    }
  )pb");
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_EQ(StatisticsOf(logs, "client/0", "server/0").succeeded_count(), 30);
  int64_t intended = 0;
  for (const RpcSample& sample :
       LogOf(logs, "client/0", "server/0", 0).successful_rpc_samples()) {
    intended += sample.has_lateness_ns() ? 1 : 0;
  }
  EXPECT_EQ(intended, 10);
}

}  // namespace
}  // namespace distbench::engine
