// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Engines on drivers whose requests and responses arrive on several threads,
// each of which may run a worker's turn: those of gRPC, of pools and of
// activities.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/substitute.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/config/compile/compile.h"
#include "distbench/config/reading/load.h"
#include "distbench/config/validate/check.h"
#include "distbench/engine/engine.h"
#include "distbench/protocol/registry/registry.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(50);
constexpr int kIterations = 2000;

struct Threading {
  std::string client_type;
  std::string server_type;
};

// A client calls a middle service, whose handler calls a leaf, computes and
// waits. The leaf's handlers have one action or none.
std::shared_ptr<const config::Plan> MakePlan(const Threading& threading) {
  const std::string config = absl::Substitute(
      R"pb(tests {
             workers_per_instance: 2
             services { name: "client" count: 1 }
             services { name: "middle" count: 1 }
             services { name: "leaf" count: 1 }
             protocol_driver_options {
               name: "default_protocol_driver_options"
               protocol_name: "grpc"
               client_settings { name: "client_type" string_value: "$0" }
               server_settings { name: "server_type" string_value: "$1" }
               server_settings { name: "spin_us" int64_value: 0 }
             }
             rpc_descriptions { name: "ask" client: "client" server: "middle" }
             rpc_descriptions { name: "fetch" client: "middle" server: "leaf" }
             rpc_descriptions { name: "note" client: "middle" server: "leaf" }
             action_lists { name: "client" action_names: "run" }
             action_lists {
               name: "ask"
               action_names: "fetch"
               action_names: "note"
               action_names: "work"
               action_names: "wait"
             }
             action_lists { name: "fetch" action_names: "work" }
             action_lists { name: "note" }
             actions {
               name: "run"
               rpc_name: "ask"
               iterations {
                 max_iteration_count: $2
                 max_parallel_iterations: 20
               }
             }
             actions { name: "fetch" rpc_name: "fetch" }
             actions { name: "note" rpc_name: "note" dependencies: "fetch" }
             actions { name: "work" activity_config_name: "work" }
             actions {
               name: "wait"
               activity_config_name: "wait"
               dependencies: "note"
             }
             activity_configs {
               name: "work"
               activity_settings {
                 name: "activity_func"
                 string_value: "ConsumeCpu"
               }
               activity_settings { name: "array_size" int64_value: 10 }
             }
             activity_configs {
               name: "wait"
               activity_settings { name: "activity_func" string_value: "Wait" }
               activity_settings { name: "mean_us" int64_value: 300 }
             }
           })pb",
      threading.client_type, threading.server_type, kIterations);
  auto parsed = config::ParseTestSequence(config, "test");
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  auto checked = config::CheckTestSequence(*std::move(parsed));
  EXPECT_TRUE(checked.ok()) << checked.status();
  return std::make_shared<const config::Plan>(
      config::Compile(checked->tests(0)));
}

class ThreadingTest : public testing::TestWithParam<Threading> {};

TEST_P(ThreadingTest, NothingIsLost) {
  const std::shared_ptr<const config::Plan> plan = MakePlan(GetParam());
  const int count = static_cast<int>(plan->instances.size());
  std::vector<absl::Notification> finished(count);
  std::vector<std::unique_ptr<Engine>> engines;
  std::vector<std::string> addresses;
  for (int i = 0; i < count; ++i) {
    EngineOptions options;
    options.plan = plan;
    options.instance = i;
    options.worker_count = 2;
    options.on_traffic_finished = [&finished, i] { finished[i].Notify(); };
    auto driver = protocol::MakeProtocolDriver(
        plan->services[plan->instances[i].service].driver,
        {.service_address = "127.0.0.1",
         .immediate_rpcs = {false, false, true}});
    ASSERT_TRUE(driver.ok()) << driver.status();
    engines.push_back(
        Engine::Create(std::move(options), *std::move(driver)).value());
    addresses.push_back(engines.back()->address());
  }
  for (const auto& engine : engines) {
    std::vector<std::string> peers;
    for (int peer : engine->peers()) peers.push_back(addresses[peer]);
    ASSERT_TRUE(engine->Connect(peers, absl::Now() + kPatience).ok());
  }
  const int64_t start_ns = base::RealClock().MonotonicNs();
  for (const auto& engine : engines) engine->Start(start_ns);
  for (absl::Notification& notification : finished) {
    ASSERT_TRUE(notification.WaitForNotificationWithTimeout(kPatience));
  }
  EXPECT_EQ(engines[0]->progress().succeeded_count(), kIterations);
  EXPECT_EQ(engines[1]->progress().succeeded_count(), 2 * kIterations);
  for (const auto& engine : engines) {
    engine->Shutdown();
    EXPECT_EQ(engine->progress().failed_count(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, ThreadingTest,
                         testing::Values(Threading{"polling", "polling"},
                                         Threading{"polling", "handoff"},
                                         Threading{"callback", "inline"},
                                         Threading{"callback", "handoff"}),
                         [](const auto& info) {
                           return info.param.client_type + "_" +
                                  info.param.server_type;
                         });

}  // namespace
}  // namespace distbench::engine
