// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/model/costs.h"

#include <cmath>
#include <string>

#include "distbench/base/testing/proto_testing.h"
#include "distbench/base/testing/status_testing.h"
#include "distbench/base/work_random.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/products/simulation/model/cluster_model.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

UsedDriver DriverOf(const std::string& test) {
  return UsedDriverOf(base::FromText<DistributedSystemDescription>(test), {});
}

TEST(UsedDriverTest, DefaultsAreThoseOfTests) {
  EXPECT_EQ(DriverOf("default_protocol: 'tcp'").name, "tcp");
  const UsedDriver driver = DriverOf(
      "default_protocol: 'tcp' protocol_driver_options {"
      "  name: 'default_protocol_driver_options' protocol_name: 'grpc' }");
  EXPECT_EQ(driver.name, "grpc");
  EXPECT_EQ(driver.spin_us, config::kSpinByCpus);
  EXPECT_THAT(driver.settings, IsEmpty());
}

TEST(UsedDriverTest, AnAliasHasCostsOfItsOwn) {
  EXPECT_EQ(DriverOf("default_protocol: 'grpc_async_callback'").name,
            "grpc_async_callback");
}

TEST(UsedDriverTest, TheLongerPollingOfBothSidesCounts) {
  const std::string options =
      "protocol_driver_options { name: 'default_protocol_driver_options'"
      " protocol_name: 'grpc' ";
  const std::string client = "client_settings { name: 'spin_us' int64_value: ";
  const std::string server = "server_settings { name: 'spin_us' int64_value: ";
  EXPECT_EQ(DriverOf(options + client + "0 } }").spin_us, 0);
  EXPECT_EQ(DriverOf(options + server + "7 } }").spin_us, 7);
  EXPECT_EQ(DriverOf(options + client + "3 }" + server + "7 } }").spin_us, 7);
  EXPECT_EQ(DriverOf("default_protocol: 'loopback'").spin_us, 0);
}

TEST(UsedDriverTest, DecoratorsAreLookedThrough) {
  const UsedDriver driver = DriverOf(R"(
    protocol_driver_options {
      name: "default_protocol_driver_options" protocol_name: "double_barrel"
      server_settings { name: "next_protocol_driver" string_value: "tcp" }
      client_settings { name: "connections" int64_value: 4 } })");
  EXPECT_EQ(driver.name, "tcp");
  EXPECT_THAT(driver.settings, ElementsAre("connections"));
}

TEST(UsedDriverTest, SettingsWithTheirDefaultsAreNone) {
  EXPECT_THAT(DriverOf(R"(
    protocol_driver_options {
      name: "default_protocol_driver_options" protocol_name: "grpc"
      server_settings { name: "server_type" string_value: "inline" }
      client_settings { name: "client_type" string_value: "callback" }
      client_settings { name: "channels" int64_value: 1 }
      client_settings { name: "grpc.arg" int64_value: 1 } })")
                  .settings,
              ElementsAre("client_type", "grpc.arg"));
}

TEST(UsedDriverTest, OthersMayHaveDriversThatAreNotHere) {
  EXPECT_EQ(DriverOf("default_protocol: 'from the future'").name, "");
}

SimulatedFabric FabricOf(const std::string& text) {
  SimulatedFabric fabric;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &fabric));
  return fabric;
}

TEST(CostsOfDriverTest, EveryDriverThatSendsHasCosts) {
  for (const config::DriverDeclaration& driver : config::DriverCatalog()) {
    const bool can_be_built = driver.built_in || !driver.package.empty();
    if (!can_be_built || !driver.decorated_driver_setting.empty()) continue;
    const auto costs = CostsOfDriver({}, driver.name);
    ASSERT_EQ(costs.status(), absl::OkStatus()) << driver.name;
    EXPECT_GT(costs->server_receive().fixed_ns(), 0) << driver.name;
    EXPECT_FALSE(costs->source().empty()) << driver.name;
    SimulatedFabric fabric;
    *fabric.add_stacks() = *costs;
    EXPECT_EQ(MakeClusterModel(fabric, 1, 1).status(), absl::OkStatus());
  }
}

TEST(CostsOfDriverTest, AFabricReplacesTheReferenceMachine) {
  const SimulatedFabric fabric =
      FabricOf("stacks { driver: 'tcp' server_send { fixed_ns: 7 } }");
  const auto costs = CostsOfDriver(fabric, "tcp");
  ASSERT_TRUE(costs.ok());
  EXPECT_EQ(costs->server_send().fixed_ns(), 7);
  EXPECT_EQ(costs->client_send().fixed_ns(), 0);
  EXPECT_GT(CostsOfDriver(fabric, "grpc")->client_send().fixed_ns(), 0);
}

TEST(CostsOfDriverTest, UnknownCostsAreAnError) {
  const auto costs = CostsOfDriver({}, "mercury");
  EXPECT_EQ(costs.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(base::Message(costs.status()),
              AllOf(HasSubstr("\"mercury\""), HasSubstr("(stacks)"),
                    HasSubstr("\"loopback\"")));
}

TEST(CostsOfActivityTest, TheConfigsOwnEntryComesFirst) {
  const SimulatedFabric fabric = FabricOf(
      "activities { activity: 'ConsumeCpu' cpu_ns: 1 }"
      "activities { activity: 'ConsumeCpu' name: 'rank' cpu_ns: 2 }"
      "activities { activity: 'Compress' name: 'zip' cpu_ns: 3 }");
  EXPECT_EQ(CostsOfActivity(fabric, "ConsumeCpu", "rank")->cpu_ns(), 2);
  EXPECT_EQ(CostsOfActivity(fabric, "ConsumeCpu", "other")->cpu_ns(), 1);
  EXPECT_EQ(CostsOfActivity(fabric, "Compress", "zip")->cpu_ns(), 3);
  const auto unknown = CostsOfActivity(fabric, "Compress", "tar");
  EXPECT_EQ(unknown.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(
      base::Message(unknown.status()),
      AllOf(HasSubstr("activity_configs[\"tar\"]: "),
            HasSubstr("activities { activity: \"Compress\" name: \"tar\""),
            HasSubstr("distbench calibrate")));
}

TEST(LognormalFactorsTest, HaveTheirMeanAndSpread) {
  const LognormalFactors factors(0.5);
  base::WorkRandom random(1);
  constexpr int kDraws = 200'000;
  double sum = 0;
  double logs = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double factor = factors.Draw(random);
    sum += factor;
    logs += std::log(factor);
    squares += std::log(factor) * std::log(factor);
  }
  const double mean_log = logs / kDraws;
  EXPECT_NEAR(sum / kDraws, 1, 0.01);
  EXPECT_NEAR(std::sqrt(squares / kDraws - mean_log * mean_log), 0.5, 0.01);
}

TEST(LognormalFactorsTest, WithoutSpreadAreOne) {
  const LognormalFactors factors(0);
  base::WorkRandom random(1);
  for (int i = 0; i < 100; ++i) EXPECT_DOUBLE_EQ(factors.Draw(random), 1);
}

TEST(RpcCostsTest, GrowWithTheirBytes) {
  StackCosts given;
  given.mutable_server_send()->set_fixed_ns(100);
  given.mutable_server_send()->set_ns_per_byte(0.5);
  const RpcCosts costs(given);
  EXPECT_DOUBLE_EQ(WorkNs(costs.stack.server_send(), 1000), 600);
  EXPECT_DOUBLE_EQ(WorkNs(costs.stack.client_send(), 1000), 0);
}

}  // namespace
}  // namespace distbench::simulation
