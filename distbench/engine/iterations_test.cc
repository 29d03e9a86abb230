// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The number and the times of iterations, on simulated time: what the traffic
// language promises.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "distbench/engine/engine.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::Contains;
using ::testing::Not;
using ::testing::SizeIs;

TEST(EngineTest, AnActionWithoutIterationsRunsOnce) {
  VirtualTimeSystem system(ClientServer(""));
  ASSERT_TRUE(system.Run());
  const RpcStatistics statistics =
      StatisticsOf(system.Finish(), "client/0", "server/0");
  EXPECT_EQ(statistics.succeeded_count(), 1);
  EXPECT_EQ(statistics.request_bytes(), 100);
  EXPECT_EQ(statistics.response_bytes(), 100);
}

class ShardedEngineTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Workers, ShardedEngineTest, testing::Values(1, 2, 5));

TEST_P(ShardedEngineTest, ClosedLoopRunsItsCountExactly) {
  VirtualTimeSystem system(
      ClientServer("iterations { max_iteration_count: 1000 "
                   "max_parallel_iterations: 7 warmup_iterations: 100 }"),
      GetParam());
  ASSERT_TRUE(system.Run());
  const RpcStatistics statistics =
      StatisticsOf(system.Finish(), "client/0", "server/0");
  EXPECT_EQ(statistics.succeeded_count(), 900);
  EXPECT_EQ(statistics.warmup_count(), 100);
  EXPECT_FALSE(statistics.has_response_time_ns())
      << "a closed loop has no intended send times";
}

// Workers claim many numbers at once, except for those of the warm-up.
TEST_P(ShardedEngineTest, EachNumberIsOfOneIteration) {
  constexpr int kCount = 2000;
  constexpr int kWarmup = 100;
  DistributedSystemDescription test = ParseTest(ClientServer(absl::Substitute(
      "iterations { max_iteration_count: $0 max_parallel_iterations: 7 "
      "warmup_iterations: $1 }",
      kCount, kWarmup)));
  test.mutable_rpc_descriptions(0)->set_tracing_interval(1);
  VirtualTimeSystem system(test, {.workers = GetParam(), .turn_ns = 1000});
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  std::vector<int64_t> sent_ns(kCount, 0);
  for (const RpcSample& sample :
       LogOf(logs, "client/0", "server/0", 0).successful_rpc_samples()) {
    const int64_t number = sample.trace_context().action_iterations(0);
    ASSERT_LT(number, kCount);
    EXPECT_EQ(std::exchange(sent_ns[number], sample.start_timestamp_ns()), 0)
        << "another iteration has number " << number;
    EXPECT_EQ(sample.warmup(), number < kWarmup);
  }
  EXPECT_THAT(sent_ns, Not(Contains(0)));
  EXPECT_LE(*std::max_element(sent_ns.begin(), sent_ns.begin() + kWarmup),
            *std::min_element(sent_ns.begin() + kWarmup, sent_ns.end()));
}

TEST_P(ShardedEngineTest, ConstantOpenLoopSendsOnTime) {
  VirtualTimeSystem system(
      ClientServer("iterations { open_loop_interval_ns: 1000000 "
                   "max_duration_us: 100000 }"),
      GetParam());
  ASSERT_TRUE(system.Run());
  const RpcStatistics statistics =
      StatisticsOf(system.Finish(), "client/0", "server/0");
  EXPECT_EQ(statistics.succeeded_count(), 101) << "both ends are included";
  EXPECT_EQ(statistics.lateness_ns().max(), 0);
}

TEST_P(ShardedEngineTest, ExponentialOpenLoopHasTheRateAskedFor) {
  VirtualTimeSystem system(
      ClientServer("iterations { open_loop_interval_ns: 100000 "
                   "max_duration_us: 1000000 "
                   "open_loop_interval_distribution: 'exponential' }",
                   "random_seed: 7"),
      GetParam());
  ASSERT_TRUE(system.Run());
  const int64_t count =
      StatisticsOf(system.Finish(), "client/0", "server/0").succeeded_count();
  // Within four standard deviations of a Poisson count of 10000.
  EXPECT_NEAR(count, 10'000, 400);
}

TEST_P(ShardedEngineTest, OpenLoopRunsItsCountExactly) {
  VirtualTimeSystem system(
      ClientServer("iterations { open_loop_interval_ns: 1000 "
                   "max_iteration_count: 333 }"),
      GetParam());
  ASSERT_TRUE(system.Run());
  EXPECT_EQ(
      StatisticsOf(system.Finish(), "client/0", "server/0").succeeded_count(),
      333);
}

TEST(EngineTest, SynchronisedBurstsFallOnMultiplesOfTheInterval) {
  VirtualTimeSystem system(
      ClientServer("iterations { open_loop_interval_ns: 7000000 "
                   "max_iteration_count: 5 "
                   "open_loop_interval_distribution: 'sync_burst' }"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const auto& samples =
      LogOf(logs, "client/0", "server/0", 0).successful_rpc_samples();
  ASSERT_THAT(samples, SizeIs(5));
  for (const RpcSample& sample : samples) {
    EXPECT_EQ(sample.start_timestamp_ns() % 7'000'000, 0);
  }
}

TEST(EngineTest, CappedOpenLoopHoldsBackAndKeepsIntendedTimes) {
  // The handler takes 10 ms, arrivals come every millisecond, and only one may
  // be in flight: nine in ten wait.
  VirtualTimeSystem system(R"pb(
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    default_protocol: "loopback"
    delay_distribution_configs {
      name: "ten_ms"
      field_names: "action_delay_ns"
      pmf_points {
        pmf: 1
        data_points { exact: 10000000 }
      }
    }
    rpc_descriptions { name: "query" client: "client" server: "server" }
    action_lists { name: "client" action_names: "run" }
    action_lists { name: "query" action_names: "work" }
    actions {
      name: "run"
      rpc_name: "query"
      iterations {
        open_loop_interval_ns: 1000000
        max_duration_us: 100000
        max_parallel_iterations: 1
      }
    }
    actions { name: "work" delay_distribution_name: "ten_ms" }
  )pb");
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const RpcStatistics statistics = StatisticsOf(logs, "client/0", "server/0");
  const OfferedLoad& load =
      logs.instance_logs().at("client/0").offered_loads().at(0);
  EXPECT_EQ(statistics.succeeded_count() + load.unsent_count(), 101);
  EXPECT_NEAR(statistics.succeeded_count(), 11, 1);
  EXPECT_NEAR(statistics.lateness_ns().max(), 90 * kMs, 1 * kMs);
}

TEST(EngineTest, RoundRobinDealsOutEvenly) {
  std::string config = ClientServer(
      "iterations { max_iteration_count: 1024 max_parallel_iterations: 3 }", "",
      4);
  config.replace(config.find("name: \"query\""), 13,
                 "name: \"query\" fanout_filter: \"round_robin\"");
  VirtualTimeSystem system(config);
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(StatisticsOf(logs, "client/0", absl::StrCat("server/", i))
                  .succeeded_count(),
              256);
  }
}

TEST(EngineTest, IterationsWithoutTargetsEnd) {
  VirtualTimeSystem system(R"pb(
    services { name: "lonely" count: 1 }
    default_protocol: "loopback"
    rpc_descriptions { name: "query" client: "lonely" server: "lonely" }
    action_lists { name: "lonely" action_names: "run" }
    action_lists { name: "query" }
    actions {
      name: "run"
      rpc_name: "query"
      iterations { max_iteration_count: 1000000 }
    }
  )pb");
  ASSERT_TRUE(system.Run());
}

TEST(EngineTest, LoopWithoutTargetsHeedsItsDuration) {
  VirtualTimeSystem system(R"pb(
    services { name: "lonely" count: 1 }
    default_protocol: "loopback"
    rpc_descriptions { name: "query" client: "lonely" server: "lonely" }
    action_lists { name: "lonely" action_names: "run" }
    action_lists { name: "query" }
    actions {
      name: "run"
      rpc_name: "query"
      iterations { max_duration_us: 1000 }
    }
  )pb");
  ASSERT_TRUE(system.Run());
}

// Nested loops that take no time: 256^4 iterations if they did not yield
// together.
TEST(EngineTest, NestedLoopsThatTakeNoTimeHeedTheirDuration) {
  VirtualTimeSystem system(
      ParseTest(R"pb(
        services { name: "lonely" count: 1 }
        default_protocol: "loopback"
        action_lists { name: "lonely" action_names: "a" }
        action_lists { name: "list_b" action_names: "b" }
        action_lists { name: "list_c" action_names: "c" }
        action_lists { name: "list_d" action_names: "d" }
        actions {
          name: "a"
          action_list_name: "list_b"
          iterations { max_duration_us: 1000 }
        }
        actions {
          name: "b"
          action_list_name: "list_c"
          iterations { max_iteration_count: 256 max_duration_us: 1000 }
        }
        actions {
          name: "c"
          action_list_name: "list_d"
          iterations { max_iteration_count: 256 max_duration_us: 1000 }
        }
        actions {
          name: "d"
          iterations { max_iteration_count: 256 max_duration_us: 1000 }
        }
      )pb"),
      VirtualTimeOptions{.turn_ns = 100'000, .max_turns = 100});
  EXPECT_TRUE(system.Run());
}

TEST(EngineTest, MoreThanTenThousandConcurrentLists) {
  VirtualTimeSystem system(R"pb(
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    default_protocol: "loopback"
    delay_distribution_configs {
      name: "second"
      field_names: "action_delay_ns"
      pmf_points {
        pmf: 1
        data_points { exact: 1000000000 }
      }
    }
    rpc_descriptions { name: "query" client: "client" server: "server" }
    action_lists { name: "client" action_names: "run" }
    action_lists { name: "query" action_names: "work" }
    actions {
      name: "run"
      rpc_name: "query"
      iterations { max_parallel_iterations: 20000 max_iteration_count: 40000 }
    }
    actions { name: "work" delay_distribution_name: "second" }
  )pb");
  ASSERT_TRUE(system.Run());
  EXPECT_EQ(
      StatisticsOf(system.Finish(), "client/0", "server/0").succeeded_count(),
      40'000);
}

TEST(EngineTest, SameSeedSameTraffic) {
  auto run = [](uint64_t seed) {
    VirtualTimeSystem system(ClientServer(
        "iterations { open_loop_interval_ns: 1000000 max_iteration_count: 100 "
        "open_loop_interval_distribution: 'exponential' }",
        absl::StrCat("random_seed: ", seed)));
    EXPECT_TRUE(system.Run());
    return StatisticsOf(system.Finish(), "client/0", "server/0")
        .last_end_timestamp_ns();
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

}  // namespace
}  // namespace distbench::engine
