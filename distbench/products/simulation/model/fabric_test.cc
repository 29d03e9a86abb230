#include "distbench/products/simulation/model/fabric.h"

#include <string>

#include "distbench/base/testing/status_testing.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/products/simulation/model/cluster_model.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace distbench::simulation
