// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The engine as a whole, on simulated time: the order of actions, nested lists,
// and handlers.

#include "distbench/engine/engine.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "distbench/base/testing/scarce_memory.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/validate/check.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "distbench/protocol/loopback/loopback_driver.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::HasSubstr;

TEST(EngineTest, DependenciesOrderActionsAndDelaysPostponeThem) {
  VirtualTimeSystem system(R"pb(
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
  VirtualTimeSystem system(R"pb(
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

TEST(EngineTest, PredicatesSkipActionsAndTheirDependents) {
  VirtualTimeSystem system(R"pb(
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
  VirtualTimeSystem system(R"pb(
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

// Activities of a handler; the client relies on their duration.
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
  VirtualTimeSystem system(ServerThatDoes(
      "activity_settings { name: 'activity_func' string_value: 'SleepFor' } "
      "activity_settings { name: 'duration_us' int64_value: 1000 }"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_EQ(StatisticsOf(logs, "client/0", "server/0").service_time_ns().min(),
            3 * kMs);
  EXPECT_EQ(IterationsOf(logs, "server/0"), 60);
}

TEST(EngineTest, WorkingActivitiesRunToTheirEnd) {
  VirtualTimeSystem system(ServerThatDoes(
      "activity_settings { name: 'activity_func' string_value: 'ConsumeCpu' } "
      "activity_settings { name: 'array_size' int64_value: 100 }"));
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_EQ(StatisticsOf(logs, "client/0", "server/0").succeeded_count(), 20);
  EXPECT_EQ(IterationsOf(logs, "server/0"), 60);
}

TEST(EngineTest, StopEndsActivitiesThatWait) {
  VirtualTimeSystem system(ServerThatDoes(
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

}  // namespace

// Engines on a system that cannot provide enough threads.

namespace {

constexpr char kComputeConfig[] = R"pb(
  services { name: "lonely" count: 1 }
  default_protocol: "loopback"
  action_lists { name: "lonely" action_names: "work" }
  actions { name: "work" activity_config_name: "compute" }
  activity_configs {
    name: "compute"
    pool_name: "pool"
    activity_settings { name: "activity_func" string_value: "SpinFor" }
    activity_settings { name: "duration_us" int64_value: 1 }
  }
  activity_pools { name: "pool" size: 2 }
)pb";

// Creates an engine when the system can provide only `threads` more threads.
absl::Status Create(int threads, int workers) {
  TestSequence sequence;
  *sequence.add_tests() = ParseTest(kComputeConfig);
  const auto checked = config::CheckTestSequence(std::move(sequence));
  EXPECT_TRUE(checked.ok()) << checked.status();
  EngineOptions options;
  options.plan =
      std::make_shared<const config::Plan>(config::Compile(checked->tests(0)));
  options.worker_count = workers;
  const base::ScarceThreads scarce(threads);
  return Engine::Create(std::move(options), protocol::MakeLoopbackDriver())
      .status();
}

TEST(EngineThreadsTest, AllCanBeStarted) {
  const absl::Status status = Create(4, 2);
  EXPECT_TRUE(status.ok()) << status;
}

TEST(EngineThreadsTest, TooFewForActivitiesAreAnError) {
  for (const int threads : {0, 1}) {
    const absl::Status status = Create(threads, 2);
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(status.ToString(), HasSubstr("a thread for activities"));
  }
}

TEST(EngineThreadsTest, TooFewForWorkersAreAnError) {
  for (const int threads : {2, 3}) {
    const absl::Status status = Create(threads, 2);
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(status.ToString(), HasSubstr("a thread for workers"));
  }
}

}  // namespace
}  // namespace distbench::engine
