// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The counters of a driver are in the log of its instance.

#include <memory>
#include <utility>
#include <vector>

#include "distbench/engine/engine.h"
#include "distbench/engine/testing/virtual_time_testing.h"
#include "distbench/protocol/decorators/decorators.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/loopback/loopback_driver.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr char kIdleConfig[] = R"pb(
  services { name: "lonely" count: 1 }
  default_protocol: "loopback"
  action_lists { name: "lonely" action_names: "nothing" }
  actions { name: "nothing" }
)pb";

// Returns the counters of an idle instance, one log per chunk that has any.
std::vector<ServicePerformanceLog> Collect(
    std::unique_ptr<protocol::ProtocolDriver> driver) {
  VirtualTimeSystem system(kIdleConfig);
  EngineOptions options;
  options.plan = std::shared_ptr<const config::Plan>(
      std::shared_ptr<const config::Plan>(), &system.plan());
  options.start_threads = false;
  auto engine = Engine::Create(std::move(options), std::move(driver)).value();
  engine->Shutdown();
  std::vector<ServicePerformanceLog> logs;
  engine->Collect([&](ResultChunk chunk) {
    EXPECT_EQ(chunk.instance(), "lonely/0");
    if (chunk.instance_log().driver_counters().empty()) return;
    logs.push_back(chunk.instance_log());
  });
  return logs;
}

TEST(DriverCountersTest, AreCollected) {
  const std::vector<ServicePerformanceLog> logs =
      Collect(protocol::MakeRpcCounterDriver(protocol::MakeLoopbackDriver()));
  ASSERT_EQ(logs.size(), 1);
  EXPECT_THAT(
      logs[0].driver_counters(),
      UnorderedElementsAre(Pair("rpcs_sent", 0), Pair("rpcs_answered", 0),
                           Pair("rpcs_failed", 0), Pair("requests_received", 0),
                           Pair("replies_sent", 0)));
}

TEST(DriverCountersTest, AreAbsentWhereNothingIsCounted) {
  EXPECT_TRUE(Collect(protocol::MakeLoopbackDriver()).empty());
}

// Simulated systems have them too, as real ones do.
TEST(DriverCountersTest, VirtualTimeSystemsHaveThoseOfDecorators) {
  VirtualTimeSystem system(R"pb(
    services { name: "lonely" count: 1 }
    default_protocol: "loopback"
    protocol_driver_options {
      name: "default_protocol_driver_options"
      protocol_name: "double_barrel"
      server_settings { name: "next_protocol_driver" string_value: "counted" }
    }
    protocol_driver_options {
      name: "counted"
      protocol_name: "composable_rpc_counter"
      server_settings { name: "driver_under_test" string_value: "loopback" }
    }
    action_lists { name: "lonely" action_names: "nothing" }
    actions { name: "nothing" }
  )pb");
  ASSERT_TRUE(system.Run());
  const ServiceLogs logs = system.Finish();
  EXPECT_EQ(
      logs.instance_logs().at("lonely/0").driver_counters().count("rpcs_sent"),
      1);
}

}  // namespace
}  // namespace distbench::engine
