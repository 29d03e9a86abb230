// The engine as a whole, on simulated time: what the traffic language promises.

#include "distbench/engine/engine.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "distbench/engine/simulated_system.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int64_t kMs = 1'000'000;

// A client and `servers` servers; `client_action` completes the action "run".
std::string ClientServer(absl::string_view client_action,
                         absl::string_view more = "", int servers = 1) {
  return absl::Substitute(
      R"pb(
        services { name: "client" count: 1 }
        services { name: "server" count: $2 }
        default_protocol: "loopback"
        payload_descriptions { name: "small" size: 100 }
        rpc_descriptions {
          name: "query"
          client: "client"
          server: "server"
          request_payload_name: "small"
          response_payload_name: "small"
        }
        action_lists { name: "client" action_names: "run" }
        action_lists { name: "query" }
        actions { name: "run" rpc_name: "query" $0 } $1)pb",
      client_action, more, servers);
}

TEST(EngineTest, AnActionWithoutIterationsRunsOnce) {
  SimulatedSystem system(ClientServer(""));
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
  SimulatedSystem system(
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

TEST_P(ShardedEngineTest, ConstantOpenLoopSendsOnTime) {
  SimulatedSystem system(
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
  SimulatedSystem system(
      ClientServer("iterations { open_loop_interval_ns: 100000 "
                   "max_duration_us: 1000000 "
                   "open_loop_interval_distribution: 'exponential' }",
                   "random_seed: 7"),
      GetParam());
  ASSERT_TRUE(system.Run());
  const int64_t count =
      StatisticsOf(system.Finish(), "client/0", "server/0").succeeded_count();
  // Four standard deviations of a Poisson count of 10000.
  EXPECT_NEAR(count, 10'000, 400);
}

TEST_P(ShardedEngineTest, OpenLoopRunsItsCountExactly) {
  SimulatedSystem system(
      ClientServer("iterations { open_loop_interval_ns: 1000 "
                   "max_iteration_count: 333 }"),
      GetParam());
  ASSERT_TRUE(system.Run());
  EXPECT_EQ(
      StatisticsOf(system.Finish(), "client/0", "server/0").succeeded_count(),
      333);
}

TEST(EngineTest, SynchronisedBurstsFallOnMultiplesOfTheInterval) {
  SimulatedSystem system(
      ClientServer("iterations { open_loop_interval_ns: 7000000 "
                   "max_iteration_count: 5 "
                   "open_loop_interval_distribution: 'sync_burst' }"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const auto& samples = logs.instance_logs()
                            .at("client/0")
                            .peer_logs()
                            .at("server/0")
                            .rpc_logs()
                            .at(0)
                            .successful_rpc_samples();
  ASSERT_THAT(samples, SizeIs(5));
  for (const RpcSample& sample : samples) {
    EXPECT_EQ(sample.start_timestamp_ns() % 7'000'000, 0);
  }
}

TEST(EngineTest, RoundRobinDealsOutEvenly) {
  std::string config = ClientServer(
      "iterations { max_iteration_count: 1024 max_parallel_iterations: 3 }", "",
      4);
  config.replace(config.find("name: \"query\""), 13,
                 "name: \"query\" fanout_filter: \"round_robin\"");
  SimulatedSystem system(config);
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(StatisticsOf(logs, "client/0", absl::StrCat("server/", i))
                  .succeeded_count(),
              256);
  }
}

TEST(EngineTest, IterationsWithoutTargetsEnd) {
  SimulatedSystem system(R"pb(
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
  SimulatedSystem system(R"pb(
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

// Loops inside loops, none of which takes any time: 256^4 iterations if they
// did not give up their turn together.
TEST(EngineTest, NestedLoopsThatTakeNoTimeHeedTheirDuration) {
  SimulatedSystem system(
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
      SimulationOptions{.turn_ns = 100'000, .max_turns = 100});
  EXPECT_TRUE(system.Run());
}

TEST(EngineTest, DependenciesOrderActionsAndDelaysPostponeThem) {
  SimulatedSystem system(R"pb(
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    default_protocol: "loopback"
    delay_distribution_configs {
      name: "one_ms"
      field_names: "action_delay_ns"
      pmf_points {
        pmf: 1
        data_points { exact: 1000000 }
      }
    }
    rpc_descriptions { name: "first" client: "client" server: "server" }
    rpc_descriptions { name: "second" client: "client" server: "server" }
    action_lists {
      name: "client"
      action_names: "a"
      action_names: "b"
      action_names: "c"
    }
    action_lists { name: "first" }
    action_lists { name: "second" }
    actions { name: "a" rpc_name: "first" }
    actions { name: "b" dependencies: "a" delay_distribution_name: "one_ms" }
    actions { name: "c" rpc_name: "second" dependencies: "b" }
  )pb");
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const RpcStatistics first = StatisticsOf(logs, "client/0", "server/0", 0);
  const RpcStatistics second = StatisticsOf(logs, "client/0", "server/0", 1);
  EXPECT_EQ(second.first_start_timestamp_ns() - first.last_end_timestamp_ns(),
            1 * kMs);
}

TEST(EngineTest, NestedListsAndHandlersThatCallOthers) {
  SimulatedSystem system(R"pb(
    services { name: "client" count: 1 }
    services { name: "root" count: 2 }
    services { name: "leaf" count: 5 }
    default_protocol: "loopback"
    rpc_descriptions {
      name: "root_query"
      client: "client"
      server: "root"
      fanout_filter: "round_robin"
      tracing_interval: 2
    }
    rpc_descriptions { name: "leaf_query" client: "root" server: "leaf" }
    action_lists { name: "client" action_names: "run" }
    action_lists { name: "one" action_names: "query" }
    action_lists { name: "root_query" action_names: "ask_leaves" }
    action_lists { name: "leaf_query" }
    actions {
      name: "run"
      action_list_name: "one"
      iterations { max_iteration_count: 100 warmup_iterations: 10 }
    }
    actions { name: "query" rpc_name: "root_query" }
    actions { name: "ask_leaves" rpc_name: "leaf_query" }
  )pb");
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  int64_t root_queries = 0;
  for (int i = 0; i < 2; ++i) {
    const std::string root = absl::StrCat("root/", i);
    root_queries += StatisticsOf(logs, "client/0", root, 0).succeeded_count();
    for (int j = 0; j < 5; ++j) {
      const RpcStatistics leaf =
          StatisticsOf(logs, root, absl::StrCat("leaf/", j), 1);
      EXPECT_EQ(leaf.succeeded_count(), 45);
      EXPECT_EQ(leaf.warmup_count(), 5) << "inherited from the client";
    }
  }
  EXPECT_EQ(root_queries, 90);
}

TEST(EngineTest, TracesGrowWithEachHop) {
  SimulatedSystem system(R"pb(
    services { name: "client" count: 1 }
    services { name: "root" count: 1 }
    services { name: "leaf" count: 2 }
    default_protocol: "loopback"
    rpc_descriptions {
      name: "root_query"
      client: "client"
      server: "root"
      tracing_interval: 2
    }
    rpc_descriptions { name: "leaf_query" client: "root" server: "leaf" }
    action_lists { name: "client" action_names: "run" }
    action_lists { name: "root_query" action_names: "ask_leaves" }
    action_lists { name: "leaf_query" }
    actions {
      name: "run"
      rpc_name: "root_query"
      iterations { max_iteration_count: 4 }
    }
    actions { name: "ask_leaves" rpc_name: "leaf_query" }
  )pb");
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const auto& samples = logs.instance_logs()
                            .at("root/0")
                            .peer_logs()
                            .at("leaf/1")
                            .rpc_logs()
                            .at(1)
                            .successful_rpc_samples();
  ASSERT_THAT(samples, SizeIs(4));
  EXPECT_FALSE(samples[1].has_trace_context());
  const TraceContext& trace = samples[2].trace_context();
  EXPECT_THAT(trace.engine_ids(), ElementsAre(0, 1));
  EXPECT_THAT(trace.actionlist_indices(), ElementsAre(0, 1));
  EXPECT_THAT(trace.actionlist_invocations(), ElementsAre(0, 2));
  EXPECT_THAT(trace.action_iterations(), ElementsAre(2, 0));
  EXPECT_EQ(trace.fanout_index_size(), 2);
}

TEST(EngineTest, PredicatesSkipActionsAndTheirDependents) {
  SimulatedSystem system(R"pb(
    random_seed: 3
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    default_protocol: "loopback"
    rpc_descriptions { name: "a" client: "client" server: "server" }
    rpc_descriptions { name: "b" client: "client" server: "server" }
    rpc_descriptions { name: "both" client: "client" server: "server" }
    action_lists { name: "client" action_names: "run" }
    action_lists {
      name: "choose"
      action_names: "do_a"
      action_names: "do_b"
      action_names: "do_both"
      predicate_probabilities { key: "heads" value: 0.75 }
    }
    action_lists { name: "a" }
    action_lists { name: "b" }
    action_lists { name: "both" }
    actions {
      name: "run"
      action_list_name: "choose"
      iterations { max_iteration_count: 1000 }
    }
    actions { name: "do_a" rpc_name: "a" predicates: "heads" }
    actions { name: "do_b" rpc_name: "b" predicates: "!heads" }
    actions {
      name: "do_both"
      rpc_name: "both"
      dependencies: "do_a"
      dependencies: "do_b"
    }
  )pb");
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  const int64_t a =
      StatisticsOf(logs, "client/0", "server/0", 0).succeeded_count();
  const int64_t b =
      StatisticsOf(logs, "client/0", "server/0", 1).succeeded_count();
  EXPECT_EQ(a + b, 1000);
  EXPECT_NEAR(a, 750, 50);
  EXPECT_EQ(StatisticsOf(logs, "client/0", "server/0", 2).succeeded_count(), 0);
}

TEST(EngineTest, AnswersEarlyAndWithTheOverriddenSize) {
  SimulatedSystem system(R"pb(
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    services { name: "log" count: 1 }
    default_protocol: "loopback"
    payload_descriptions { name: "big" size: 5000 }
    delay_distribution_configs {
      name: "second"
      field_names: "action_delay_ns"
      pmf_points {
        pmf: 1
        data_points { exact: 1000000000 }
      }
    }
    rpc_descriptions { name: "query" client: "client" server: "server" }
    rpc_descriptions { name: "note" client: "server" server: "log" }
    action_lists { name: "client" action_names: "run" }
    action_lists {
      name: "query"
      action_names: "answer"
      action_names: "write_log"
    }
    action_lists { name: "note" }
    actions { name: "run" rpc_name: "query" }
    actions {
      name: "answer"
      send_response_when_done: true
      response_payload_override: "big"
    }
    actions {
      name: "write_log"
      rpc_name: "note"
      dependencies: "answer"
      delay_distribution_name: "second"
    }
  )pb");
  ASSERT_TRUE(system.Run());
  system.RunFor(2'000 * kMs);
  const ServiceLogs logs = system.Finish();
  const RpcStatistics query = StatisticsOf(logs, "client/0", "server/0", 0);
  EXPECT_EQ(query.response_bytes(), 5000);
  EXPECT_LT(query.service_time_ns().max(), 1 * kMs);
}

TEST(EngineTest, CancellingActionEndsOwnTrafficAndServesOn) {
  SimulatedSystem system(R"pb(
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

// Whatever waits is looked at once, not for each of them.
TEST(EngineTest, ManyActionsMayEndTheTrafficOneAfterTheOther) {
  SimulatedSystem system(R"pb(
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
  SimulatedSystem system(
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

TEST(EngineTest, PendingRpcsBeyondTheLimitEndTheTest) {
  SimulatedSystem system(
      ClientServer("iterations { max_parallel_iterations: 11 "
                   "max_iteration_count: 100000 }",
                   "overload_limits { max_pending_rpcs: 10 }"));
  ASSERT_TRUE(system.Run());
  ASSERT_THAT(system.overloads(), SizeIs(1));
  EXPECT_EQ(system.overloads()[0].code(), absl::StatusCode::kResourceExhausted);
}

// A handler that answers early and goes on has no RPC in flight.
TEST(EngineTest, HandlersBeyondTheLimitEndTheTest) {
  SimulatedSystem system(R"pb(
    services { name: "client" count: 1 }
    services { name: "server" count: 1 }
    default_protocol: "loopback"
    overload_limits { max_pending_rpcs: 100 }
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
  EXPECT_THAT(system.overloads()[0].message(), HasSubstr("handled"));
}

TEST(EngineTest, IterationsBeyondTheLimitEndTheTest) {
  SimulatedSystem system(R"pb(
    services { name: "lonely" count: 1 }
    default_protocol: "loopback"
    overload_limits { max_pending_rpcs: 100 }
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
  EXPECT_THAT(system.overloads()[0].message(), HasSubstr("iterations"));
}

TEST(EngineTest, CappedOpenLoopHoldsBackAndKeepsIntendedTimes) {
  // The handler takes 10 ms, arrivals come every millisecond, and only one may
  // be in flight: nine in ten wait.
  SimulatedSystem system(R"pb(
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
  const int64_t unsent = system.engine("client/0").progress().unsent_count;
  const RpcStatistics statistics =
      StatisticsOf(system.Finish(), "client/0", "server/0");
  EXPECT_EQ(statistics.succeeded_count() + unsent, 101);
  EXPECT_NEAR(statistics.succeeded_count(), 11, 1);
  EXPECT_NEAR(statistics.lateness_ns().max(), 90 * kMs, 1 * kMs);
}

TEST(EngineTest, MoreThanTenThousandConcurrentLists) {
  SimulatedSystem system(R"pb(
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

// Activities of a handler; the client counts on the time that they take.
std::string ServerThatDoes(absl::string_view activity_settings) {
  return absl::Substitute(
      R"pb(
        services { name: "client" count: 1 }
        services { name: "server" count: 1 }
        default_protocol: "loopback"
        activity_configs { name: "work" $0 }
        rpc_descriptions { name: "query" client: "client" server: "server" }
        action_lists { name: "client" action_names: "run" }
        action_lists { name: "query" action_names: "do" }
        actions {
          name: "run"
          rpc_name: "query"
          iterations { max_iteration_count: 20 }
        }
        actions {
          name: "do"
          activity_config_name: "work"
          iterations { max_iteration_count: 3 }
        })pb",
      activity_settings);
}

int64_t IterationsOf(const ServiceLogs& logs, const std::string& instance) {
  return logs.instance_logs()
      .at(instance)
      .activity_logs()
      .at("work")
      .activity_metrics(0)
      .value_int();
}

TEST(EngineTest, HandlersWaitForTheirActivities) {
  SimulatedSystem system(ServerThatDoes(
      "activity_settings { name: 'activity_func' string_value: 'SleepFor' } "
      "activity_settings { name: 'duration_us' int64_value: 1000 }"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_EQ(StatisticsOf(logs, "client/0", "server/0").service_time_ns().min(),
            3 * kMs);
  EXPECT_EQ(IterationsOf(logs, "server/0"), 60);
}

TEST(EngineTest, WorkingActivitiesRunToTheirEnd) {
  SimulatedSystem system(ServerThatDoes(
      "activity_settings { name: 'activity_func' string_value: 'ConsumeCpu' } "
      "activity_settings { name: 'array_size' int64_value: 100 }"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_EQ(StatisticsOf(logs, "client/0", "server/0").succeeded_count(), 20);
  EXPECT_EQ(IterationsOf(logs, "server/0"), 60);
}

TEST(EngineTest, StopEndsActivitiesThatWait) {
  SimulatedSystem system(ServerThatDoes(
      "activity_settings { name: 'activity_func' string_value: 'SleepFor' } "
      "activity_settings { name: 'duration_us' int64_value: 1000000000 }"));
  system.RunFor(10 * kMs);
  EXPECT_FALSE(system.finished());
  for (const char* instance : {"client/0", "server/0"}) {
    system.engine(instance).Stop("enough");
  }
  system.RunFor(1 * kMs);
  EXPECT_TRUE(system.finished());
}

TEST(EngineTest, SameSeedSameTraffic) {
  auto run = [](uint64_t seed) {
    SimulatedSystem system(ClientServer(
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
}  // namespace distbench
