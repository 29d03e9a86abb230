// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/catalogs/testing/declaration_testing.h"
#include "distbench/products/http2/declaration.h"
#include "distbench/protocol/registry/testing/driver_registration.h"
#include "gtest/gtest.h"
#include "optional_libraries.h"
#include "test_builder/protocols/testing/protocol_testing.h"

namespace distbench::http2 {
namespace {

using config::FindSetting;
using test_builder::ExpectOptions;
using test_builder::MakeSetup;
using test_builder::ProtocolSetup;

const config::DriverDeclaration& Driver() {
  return *config::FindDriver("http2");
}

TEST(Http2PluginTest, TheDriverIsRegisteredEvenIfItIsLeftOut) {
  protocol::ExpectIsRegistered("http2");
  EXPECT_EQ(Driver().built_in, DISTBENCH_HAS_NGHTTP2 == 1);
  EXPECT_EQ(Driver().package, "libnghttp2-dev");
  EXPECT_TRUE(Driver().breaks_connections);
}

TEST(Http2PluginTest, HasWindowsOnBothSides) {
  for (const auto* side :
       {&Driver().client_settings, &Driver().server_settings}) {
    for (const char* name :
         {"stream_window_bytes", "connection_window_bytes", "spin_us"}) {
      EXPECT_NE(FindSetting(*side, name), nullptr) << name;
    }
  }
  EXPECT_NE(FindSetting(Driver().server_settings, "max_concurrent_streams"),
            nullptr);
}

TEST(Http2PluginTest, NumbersAreThoseOfTheDriver) {
  config::ExpectLimits(Driver().client_settings,
                       {kStreamWindow, kConnectionWindow});
  config::ExpectLimits(
      Driver().server_settings,
      {kStreamWindow, kConnectionWindow, kMaxStreams, kKeptRequestBytes});
}

TEST(Http2PluginTest, HasTheSettingsOfOurSockets) {
  EXPECT_NE(FindSetting(Driver().client_settings, "ecn"), nullptr);
  for (const auto* side :
       {&Driver().client_settings, &Driver().server_settings}) {
    EXPECT_NE(FindSetting(*side, "dscp"), nullptr);
    EXPECT_EQ(FindSetting(*side, "zero_copy"), nullptr);
  }
  EXPECT_EQ(config::FindDriver("grpc")->client_settings.refused.at("dscp"),
            "gRPC makes its own sockets; use the driver \"http2\" or \"tcp\"");
}

TEST(Http2PluginTest, TestBuilderNamesWhatIsSet) {
  const ProtocolSetup setup =
      MakeSetup("http2", {{"transport", "unix"},
                          {"connections", "4"},
                          {"stream_window_bytes", "65535"},
                          {"max_concurrent_streams", "100"}});
  EXPECT_EQ(setup.alias, "http2_unix_conn4_window65535_streams100");
  ExpectOptions(setup, R"pb(
    server_settings { name: "transport" string_value: "unix" }
    client_settings { name: "connections" int64_value: 4 }
    client_settings { name: "stream_window_bytes" int64_value: 65535 }
    server_settings { name: "stream_window_bytes" int64_value: 65535 }
    server_settings { name: "max_concurrent_streams" int64_value: 100 }
  )pb");
  EXPECT_EQ(MakeSetup("http2", {{"calls_per_connection", "1"}}).alias,
            "http2_calls1");
}

}  // namespace
}  // namespace distbench::http2
