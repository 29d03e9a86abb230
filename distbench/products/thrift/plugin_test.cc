// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/catalogs/testing/declaration_testing.h"
#include "distbench/protocol/registry/testing/driver_registration.h"
#include "gtest/gtest.h"
#include "test_builder/protocols/testing/protocol_testing.h"

namespace distbench::thrift {
namespace {

using config::FindSetting;
using test_builder::ExpectOptions;
using test_builder::MakeSetup;
using test_builder::ProtocolSetup;

TEST(ThriftPluginTest, TheDriverIsRegistered) {
  protocol::ExpectIsRegistered("thrift");
  const config::DriverDeclaration& driver = *config::FindDriver("thrift");
  EXPECT_TRUE(driver.built_in);
  EXPECT_TRUE(driver.breaks_connections);
}

TEST(ThriftPluginTest, HasTheSettingsOfOurSockets) {
  const config::DriverDeclaration& driver = *config::FindDriver("thrift");
  EXPECT_NE(FindSetting(driver.client_settings, "ecn"), nullptr);
  for (const auto* side : {&driver.client_settings, &driver.server_settings}) {
    EXPECT_NE(FindSetting(*side, "dscp"), nullptr);
    EXPECT_EQ(FindSetting(*side, "zero_copy"), nullptr);
  }
  EXPECT_EQ(config::FindDriver("grpc")->client_settings.refused.at("dscp"),
            "gRPC makes its own sockets; use the driver \"tcp\" or \"thrift\"");
}

TEST(ThriftPluginTest, TestBuilderNamesWhatIsSet) {
  const ProtocolSetup setup =
      MakeSetup("thrift", {{"transport", "unix"}, {"connections", "4"}});
  EXPECT_EQ(setup.alias, "thrift_unix_conn4");
  ExpectOptions(setup, R"pb(
    server_settings { name: "transport" string_value: "unix" }
    client_settings { name: "connections" int64_value: 4 }
  )pb");
  EXPECT_EQ(MakeSetup("thrift", {{"dscp", "46"}}).alias, "thrift_dscp46");
  EXPECT_EQ(MakeSetup("thrift", {{"calls_per_connection", "1"}}).alias,
            "thrift_calls1");
}

}  // namespace
}  // namespace distbench::thrift
