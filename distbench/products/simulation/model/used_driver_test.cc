#include "distbench/products/simulation/model/used_driver.h"

#include "distbench/base/testing/proto_testing.h"
#include "distbench/config/plan/driver_options.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

using ::testing::ElementsAre;
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

}  // namespace
}  // namespace distbench::simulation
