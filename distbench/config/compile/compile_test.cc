// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/compile/compile.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "distbench/config/reading/load.h"
#include "distbench/config/validate/check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A service that calls itself, which tests extend.
constexpr char kBase[] = R"(
  services { name: 'peer' count: 3 }
  rpc_descriptions { name: 'rpc' client: 'peer' server: 'peer' }
  action_lists { name: 'rpc' }
  actions { name: 'call' rpc_name: 'rpc' }
)";
constexpr char kMainList[] =
    "action_lists { name: 'peer' action_names: 'call' }";

Plan CompileText(const std::string& text) {
  auto sequence = ParseTestSequence("tests {" + text + "}", "test");
  EXPECT_TRUE(sequence.ok()) << sequence.status();
  Canonicalize(*sequence);
  EXPECT_TRUE(ToStatus(Validate(*sequence)).ok())
      << ToStatus(Validate(*sequence));
  return Compile(sequence->tests(0));
}

Plan CompileWith(const std::string& text) {
  return CompileText(kBase + (kMainList + text));
}

TEST(Compile, FillsInDefaults) {
  const Plan plan = CompileWith("name: 'test'");
  EXPECT_EQ(plan.test_name, "test");
  EXPECT_EQ(plan.seed, 0);
  EXPECT_EQ(plan.timeout_ns, 3'600'000'000'000);
  EXPECT_EQ(plan.workers_per_instance, 0);
  EXPECT_EQ(plan.max_threads, 1000);
  EXPECT_EQ(plan.max_pending_rpcs, 1'000'000);
  EXPECT_EQ(plan.max_pending_work, 1'000'000);
  EXPECT_EQ(plan.max_memory_bytes, 0);
  EXPECT_EQ(plan.sample_memory_bytes, 64 << 20);
  EXPECT_EQ(plan.recording_memory_bytes, 64 << 20);
  ASSERT_EQ(plan.rpcs.size(), 1);
  const RpcPlan& rpc = plan.rpcs[0];
  EXPECT_EQ(rpc.request.fixed_bytes, 16);
  EXPECT_EQ(rpc.response.fixed_bytes, 32);
  EXPECT_EQ(rpc.request.distribution, kNone);
  EXPECT_EQ(rpc.joint_distribution, kNone);
  EXPECT_EQ(rpc.fanout.kind, FanoutPlan::Kind::kAll);
  EXPECT_EQ(rpc.deadline_ns, kUnlimited);
  EXPECT_EQ(rpc.multi_server_channel, kNone);
  EXPECT_EQ(plan.services[0].driver.driver, "grpc");
}

// The policy of the callers of "rpc", which have `policy` in the config.
PolicyPlan CompilePolicyText(const std::string& policy) {
  const Plan plan = CompileText(
      "services { name: 'peer' count: 3 } action_lists { name: 'rpc' } "
      "actions { name: 'call' rpc_name: 'rpc' } rpc_descriptions { name: 'rpc' "
      "client: 'peer' server: 'peer' policy { " +
      policy + " } } " + kMainList);
  return plan.rpcs[0].policy.value();
}

TEST(Compile, AttemptsAreThoseOfRetriesOrHedging) {
  EXPECT_EQ(CompilePolicyText("attempt_deadline: '1s'").max_attempts, 1);
  const PolicyPlan retry = CompilePolicyText("retry { budget { ratio: 0.2 } }");
  EXPECT_EQ(retry.max_attempts, 3);
  EXPECT_TRUE(retry.policy.has_retry());
  EXPECT_EQ(retry.budget.value().ratio(), 0.2);
  const PolicyPlan hedging =
      CompilePolicyText("hedging { max_attempts: 5 delay: '1ms' }");
  EXPECT_EQ(hedging.max_attempts, 5);
  EXPECT_EQ(hedging.policy.hedging().delay_ns(), 1'000'000);
  EXPECT_FALSE(hedging.budget.has_value());
}

TEST(Compile, TakesOverTestSettings) {
  const Plan plan = CompileWith(R"(
    random_seed: 18446744073709551615
    workers_per_instance: 4
    overload_limits {
      max_threads: 7 max_pending_rpcs: 8 max_memory_bytes: 9
      max_pending_work: 10
    }
    attributes { key: 'test_timeout' value: '90' })");
  EXPECT_EQ(plan.seed, 18446744073709551615u);
  EXPECT_EQ(plan.workers_per_instance, 4);
  EXPECT_EQ(plan.max_threads, 7);
  EXPECT_EQ(plan.max_pending_rpcs, 8);
  EXPECT_EQ(plan.max_memory_bytes, 9);
  EXPECT_EQ(plan.max_pending_work, 10);
  EXPECT_EQ(plan.timeout_ns, 90'000'000'000);
}

// The limit of older configs, which one field limits all with.
TEST(Compile, PendingWorkIsLimitedAsRpcsAreByDefault) {
  const Plan plan = CompileWith("overload_limits { max_pending_rpcs: 8 }");
  EXPECT_EQ(plan.max_pending_rpcs, 8);
  EXPECT_EQ(plan.max_pending_work, 8);
}

TEST(Compile, NumbersInstancesByServiceThenNumber) {
  const Plan plan =
      CompileWith("services { name: 'grid' x_size: 2 y_size: 2 }");
  ASSERT_EQ(plan.services.size(), 2);
  EXPECT_EQ(plan.services[0].main_list, 1);
  const ServicePlan& grid = plan.services[1];
  EXPECT_EQ(grid.main_list, kNone);
  EXPECT_EQ(grid.dimensions, 2);
  EXPECT_THAT(grid.sizes, ElementsAre(2, 2, 1));
  EXPECT_EQ(grid.instance_count, 4);
  EXPECT_EQ(grid.first_instance, 3);
  std::vector<std::string> names;
  for (const InstancePlan& instance : plan.instances) {
    names.push_back(instance.name);
  }
  EXPECT_THAT(names, ElementsAre("peer/0", "peer/1", "peer/2", "grid/0/0",
                                 "grid/1/0", "grid/0/1", "grid/1/1"));
  const InstancePlan& last = plan.instances[6];
  EXPECT_EQ(last.service, 1);
  EXPECT_EQ(last.number, 3);
  EXPECT_THAT(last.coordinates, ElementsAre(1, 1, 0));
}

TEST(Compile, ResolvesRpcs) {
  const Plan plan = CompileWith(R"(
    services { name: 'server' count: 2 }
    rpc_descriptions {
      name: 'other' client: ['server', 'peer'] server: 'server'
      fanout_filter: 'linear_x{-1}' tracing_interval: 5 deadline_us: 7
      request_payload_name: 'fixed' response_payload_name: 'drawn'
    }
    rpc_descriptions {
      name: 'joint' client: 'peer' server: 'server'
      distribution_config_name: 'sizes'
    }
    action_lists { name: 'other' }
    action_lists { name: 'joint' }
    payload_descriptions { name: 'fixed' size: 99 }
    payload_descriptions { name: 'drawn' size_distribution_name: 'sizes' }
    delay_distribution_configs {
      name: 'sizes' cdf_points { cdf: 1 value: 1 }
    }
    distribution_config { name: 'sizes' cdf_points { cdf: 1 value: 2 } }
    size_distribution_configs {
      name: 'sizes' cdf_points { cdf: 1 value: 3 }
    })");
  ASSERT_EQ(plan.rpcs.size(), 3);
  const RpcPlan& rpc = plan.rpcs[1];
  EXPECT_THAT(rpc.client_services, ElementsAre(1, 0));
  EXPECT_EQ(rpc.server_service, 1);
  EXPECT_EQ(plan.lists[rpc.handler_list].name, "other");
  EXPECT_EQ(rpc.fanout.kind, FanoutPlan::Kind::kLinear);
  EXPECT_EQ(rpc.fanout.distance, -1);
  EXPECT_EQ(rpc.tracing_interval, 5);
  EXPECT_EQ(rpc.deadline_ns, 7000);
  EXPECT_EQ(rpc.request.fixed_bytes, 99);
  EXPECT_EQ(rpc.request.distribution, kNone);
  ASSERT_NE(rpc.response.distribution, kNone);
  EXPECT_EQ(plan.distributions[rpc.response.distribution].Bounds(0).upper, 3);
  ASSERT_NE(plan.rpcs[2].joint_distribution, kNone);
  EXPECT_EQ(plan.distributions[plan.rpcs[2].joint_distribution].Bounds(0).upper,
            2);
}

// The iterations of the only action of the main list.
IterationsPlan CompileIterations(const std::string& text) {
  const Plan plan =
      CompileText(std::string(kBase) + "actions { name: 'a' iterations {" +
                  text + "} } action_lists { name: 'peer' action_names: 'a' }");
  return plan.lists[plan.services[0].main_list].actions[0].iterations;
}

TEST(Compile, ActionsRunOnceUnlessTheyIterate) {
  const Plan plan = CompileWith("");
  const ListPlan& list = plan.lists[plan.services[0].main_list];
  EXPECT_EQ(list.actions[0].iterations.max_count, 1);
  EXPECT_EQ(list.actions[0].iterations.max_parallel, 1);
  EXPECT_FALSE(list.actions[0].iterations.open_loop);
}

TEST(Compile, ClosedLoop) {
  const IterationsPlan unlimited = CompileIterations("");
  EXPECT_EQ(unlimited.max_count, kUnlimited);
  EXPECT_EQ(unlimited.max_duration_ns, kUnlimited);
  EXPECT_EQ(unlimited.max_parallel, 1);
  const IterationsPlan limited = CompileIterations(
      "max_iteration_count: 5 max_duration_us: 3000000000 "
      "max_parallel_iterations: 7 warmup_iterations: 2 warmup_ns: 3");
  EXPECT_EQ(limited.max_count, 5);
  EXPECT_EQ(limited.max_duration_ns, 3'000'000'000'000);
  EXPECT_EQ(limited.max_parallel, 7);
  EXPECT_EQ(limited.warmup_count, 2);
  EXPECT_EQ(limited.warmup_ns, 3);
}

TEST(Compile, OpenLoopIsCappedOnlyIfTheFieldIsPresent) {
  const IterationsPlan free = CompileIterations("open_loop_interval_ns: 10");
  EXPECT_TRUE(free.open_loop);
  EXPECT_EQ(free.interval_ns, 10);
  EXPECT_EQ(free.max_parallel, kUnlimited);
  EXPECT_EQ(free.arrivals, ArrivalProcess::kConstant);
  EXPECT_EQ(CompileIterations("open_loop_interval_ns: 10 "
                              "max_parallel_iterations: 1")
                .max_parallel,
            1);
}

TEST(Compile, ArrivalProcesses) {
  for (const auto& [name, arrivals] :
       std::vector<std::pair<std::string, ArrivalProcess>>{
           {"", ArrivalProcess::kConstant},
           {"constant", ArrivalProcess::kConstant},
           {"exponential", ArrivalProcess::kExponential},
           {"sync_burst", ArrivalProcess::kSyncBurst},
           {"sync_burst_spread", ArrivalProcess::kSyncBurstSpread}}) {
    EXPECT_EQ(CompileIterations("open_loop_interval_ns: 1 "
                                "open_loop_interval_distribution: '" +
                                name + "'")
                  .arrivals,
              arrivals)
        << name;
  }
}

TEST(Compile, DependenciesMeanTheNearestEarlierEntry) {
  const Plan plan = CompileText(std::string(kBase) + R"(
    actions { name: 'a' }
    actions { name: 'b' dependencies: 'a' }
    action_lists {
      name: 'peer' action_names: ['a', 'b', 'a', 'b', 'b']
    })");
  const auto& actions = plan.lists[plan.services[0].main_list].actions;
  ASSERT_EQ(actions.size(), 5);
  EXPECT_THAT(actions[0].dependencies, IsEmpty());
  EXPECT_THAT(actions[1].dependencies, ElementsAre(0));
  EXPECT_THAT(actions[2].dependencies, IsEmpty());
  EXPECT_THAT(actions[3].dependencies, ElementsAre(2));
  EXPECT_THAT(actions[4].dependencies, ElementsAre(2));
  EXPECT_THAT(actions[0].dependents, ElementsAre(1));
  EXPECT_THAT(actions[2].dependents, ElementsAre(3, 4));
}

TEST(Compile, KindsOfActions) {
  const Plan plan = CompileText(std::string(kBase) + R"(
    actions { name: 'nothing' }
    actions { name: 'list' action_list_name: 'rpc' }
    actions { name: 'work' activity_config_name: 'burn' }
    actions { name: 'replay' rpc_replay_trace_name: 'trace' }
    activity_configs {
      name: 'burn'
      activity_settings { name: 'activity_func' string_value: 'ConsumeCpu' }
    }
    rpc_replay_traces {
      name: 'trace' client: 'peer' server: 'peer' records {}
    }
    action_lists {
      name: 'peer' action_names: ['nothing', 'call', 'list', 'work', 'replay']
    })");
  const auto& actions = plan.lists[plan.services[0].main_list].actions;
  using Kind = ActionPlan::Kind;
  const std::vector<Kind> kinds = {Kind::kNothing, Kind::kRpc, Kind::kList,
                                   Kind::kActivity, Kind::kReplay};
  for (int i = 0; i < kinds.size(); ++i) {
    EXPECT_EQ(actions[i].kind, kinds[i]);
    EXPECT_EQ(actions[i].target, i == 0 ? kNone : 0);
  }
}

TEST(Compile, ConditionsDelaysAndOverrides) {
  const Plan plan = CompileText(std::string(kBase) + R"(
    actions {
      name: 'a' rpc_name: 'rpc' predicates: ['!q', 'p']
      delay_distribution_name: 'delay' cancel_traffic_when_done: true
      request_payload_override: 'five' send_response_when_done: true
    }
    payload_descriptions { name: 'five' size: 5 }
    delay_distribution_configs {
      name: 'delay'
      pmf_points { pmf: 1 data_points { lower: 0 upper: 3000000000 } }
    }
    action_lists {
      name: 'peer' action_names: ['a', 'call'] max_rpc_samples: 9
      predicate_probabilities { key: 'q' value: 0.75 }
      predicate_probabilities { key: 'p' value: 0.25 }
    })");
  const ListPlan& list = plan.lists[plan.services[0].main_list];
  ASSERT_EQ(list.predicates.size(), 2);
  EXPECT_EQ(list.predicates[0].name, "p");
  EXPECT_EQ(list.predicates[0].probability, 0.25);
  EXPECT_EQ(list.predicates[1].name, "q");
  EXPECT_EQ(list.max_rpc_samples, 9);
  const ActionPlan& action = list.actions[0];
  ASSERT_EQ(action.conditions.size(), 2);
  EXPECT_EQ(action.conditions[0].predicate, 1);
  EXPECT_FALSE(action.conditions[0].expected);
  EXPECT_EQ(action.conditions[1].predicate, 0);
  EXPECT_TRUE(action.conditions[1].expected);
  ASSERT_NE(action.delay_distribution, kNone);
  EXPECT_EQ(plan.distributions[action.delay_distribution].Bounds(0).upper,
            3'000'000'000);
  EXPECT_TRUE(action.cancel_traffic_when_done);
  EXPECT_TRUE(action.send_response_when_done);
  ASSERT_TRUE(action.request_override.has_value());
  EXPECT_EQ(action.request_override->fixed_bytes, 5);
  EXPECT_FALSE(action.response_override.has_value());
  EXPECT_FALSE(list.actions[1].request_override.has_value());
}

TEST(Compile, ListsOverrideHowTheTestWaits) {
  const Plan plan = CompileText(std::string(kBase) + R"(
    delay_actions_by_spinning: true
    action_lists { name: 'peer' delay_actions_by_spinning: false })");
  EXPECT_TRUE(plan.lists[0].spin);
  EXPECT_FALSE(plan.lists[1].spin);
}

TEST(Compile, ActivitiesKnowTheirPools) {
  const Plan plan = CompileWith(R"pb(
    activity_pools { name: 'disk' size: 3 }
    activity_pools { name: 'network' size: 70 }
    activity_configs {
      name: 'send'
      pool_name: 'network'
      activity_settings { name: 'activity_func' string_value: 'Wait' }
      activity_settings { name: 'mean_us' int64_value: 5 }
    }
    activity_configs {
      name: 'read'
      pool_name: 'disk'
      activity_settings { name: 'activity_func' string_value: 'Compress' }
    }
    activity_configs {
      name: 'burn'
      activity_settings { name: 'activity_func' string_value: 'ConsumeCpu' }
    })pb");
  ASSERT_EQ(plan.activity_pools.size(), 2);
  EXPECT_EQ(plan.activity_pools[1].name, "network");
  EXPECT_EQ(plan.activity_pools[1].size, 70);
  ASSERT_EQ(plan.activities.size(), 3);
  EXPECT_EQ(plan.activities[0].pool, 1);
  EXPECT_EQ(plan.activities[1].pool, 0);
  EXPECT_EQ(plan.activities[2].pool, kNone);
}

TEST(Compile, ActivitiesHaveAllTheirSettings) {
  const Plan plan = CompileWith(R"(
    activity_configs {
      name: 'burn'
      activity_settings { name: 'array_size' int64_value: 5 }
      activity_settings {
        name: 'activity_func' string_value: 'PolluteDataCache'
      }
    })");
  ASSERT_EQ(plan.activities.size(), 1);
  const ActivityPlan& activity = plan.activities[0];
  EXPECT_EQ(activity.name, "burn");
  EXPECT_EQ(activity.function, "PolluteDataCache");
  const std::map<std::string, SettingValue> settings = {
      {"array_reads_per_iteration", int64_t{1000}}, {"array_size", int64_t{5}}};
  EXPECT_EQ(activity.settings, settings);
}

TEST(Compile, Channels) {
  const Plan plan = CompileWith(R"(
    services {
      name: 'server' count: 4
      multi_server_channels { name: 'other' selected_instances: 0 }
      multi_server_channels {
        name: 'some' selected_instances: [3, 1]
        channel_settings { name: 'policy' string_value: 'pick_first' }
      }
    }
    rpc_descriptions {
      name: 'spread' client: 'peer' server: 'server'
      multi_server_channel_name: 'some'
    }
    action_lists { name: 'spread' })");
  const auto& channels = plan.services[1].multi_server_channels;
  ASSERT_EQ(channels.size(), 2);
  EXPECT_EQ(channels[0].policy, "round_robin");
  EXPECT_EQ(channels[1].policy, "pick_first");
  EXPECT_THAT(channels[1].members, ElementsAre(1, 3));
  EXPECT_EQ(plan.rpcs[1].multi_server_channel, 1);
}

TEST(Compile, ReplayTraces) {
  const Plan plan = CompileWith(R"(
    services {
      name: 'server' count: 4
      multi_server_channels { name: 'a' selected_instances: 0 }
      multi_server_channels { name: 'b' selected_instances: 1 }
    }
    rpc_replay_traces {
      name: 'trace' client: 'peer' server: 'server'
      multiserver_channel_names: ['b', 'a']
      defaults { timing_mode: RELATIVE_TO_PRIOR_RPC_END response_size: 5 }
      records { timing_ns: 1 server_instance: 3 }
      records { timing_ns: 2 request_size: 6 server_processing_time_ns: 7 }
      records { prior_rpc_distances: [0, 1] client_instance: 2 }
      records {
        timing_mode: RELATIVE_TO_TRAFFIC_START
        multi_server_channel_name_index: 0
      }
    })");
  ASSERT_EQ(plan.replay_traces.size(), 1);
  const ReplayTracePlan& trace = plan.replay_traces[0];
  EXPECT_EQ(trace.client_service, 0);
  EXPECT_EQ(trace.server_service, 1);
  ASSERT_EQ(trace.records.size(), 4);
  using Base = ReplayRecordPlan::Base;
  EXPECT_EQ(trace.records[0].base, Base::kTraceStart);
  EXPECT_EQ(trace.records[0].offset_ns, 1);
  EXPECT_EQ(trace.records[0].server_instance, 3);
  EXPECT_EQ(trace.records[0].client_instance, kNone);
  EXPECT_EQ(trace.records[0].request_bytes, 16);
  EXPECT_EQ(trace.records[0].response_bytes, 5);
  EXPECT_EQ(trace.records[1].base, Base::kPriorEnd);
  EXPECT_THAT(trace.records[1].prior_records, ElementsAre(0));
  EXPECT_EQ(trace.records[1].request_bytes, 6);
  EXPECT_EQ(trace.records[1].processing_ns, 7);
  EXPECT_THAT(trace.records[2].prior_records, ElementsAre(1, 0));
  EXPECT_EQ(trace.records[2].client_instance, 2);
  EXPECT_EQ(trace.records[3].base, Base::kTrafficStart);
  EXPECT_EQ(trace.records[3].multi_server_channel, 1);
}

TEST(Compile, DriversAreResolved) {
  const Plan plan = CompileWith(R"(
    default_protocol: 'mine'
    protocol_driver_options {
      name: 'mine' protocol_name: 'grpc_async_callback' ip_version: 6
      server_settings { name: 'threadpool_size' int64_value: 3 }
      client_settings { name: 'grpc.x' string_value: 'y' }
    })");
  const DriverOptions& driver = plan.services[0].driver;
  EXPECT_EQ(driver.driver, "grpc");
  EXPECT_EQ(driver.ip_version, 6);
  EXPECT_EQ(std::get<std::string>(driver.client_settings.at("client_type")),
            "callback");
  EXPECT_EQ(std::get<std::string>(driver.client_settings.at("grpc.x")), "y");
  EXPECT_EQ(std::get<int64_t>(driver.server_settings.at("threadpool_size")), 3);
}

}  // namespace
}  // namespace distbench::config
