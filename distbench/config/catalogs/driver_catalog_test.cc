// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/catalogs/driver_catalog.h"

#include <set>
#include <string>
#include <vector>

#include "distbench/config/catalogs/testing/declaration_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsNull;
using ::testing::Not;

TEST(DriverCatalog, HasWellDeclaredDriversOfDistinctNames) {
  std::set<std::string> names;
  for (const DriverDeclaration& driver : DriverCatalog()) {
    EXPECT_TRUE(names.insert(driver.name).second) << driver.name;
    EXPECT_EQ(FindDriver(driver.name), &driver);
    ExpectIsWellDeclared(driver);
  }
  EXPECT_THAT(FindDriver("grp"), IsNull());
}

TEST(DriverCatalog, AsyncCallbackIsGrpcWithItsOwnDefaults) {
  const DriverDeclaration* driver = FindDriver("grpc_async_callback");
  ASSERT_NE(driver, nullptr);
  EXPECT_EQ(driver->alias_of, "grpc");
  EXPECT_EQ(FindSetting(driver->client_settings, "client_type")->default_value,
            SettingValue("callback"));
  EXPECT_EQ(FindSetting(driver->server_settings, "server_type")->default_value,
            SettingValue("handoff"));
}

TEST(DriverCatalog, TcpHasItsSettingsWithRanges) {
  const DriverDeclaration* driver = FindDriver("tcp");
  ASSERT_NE(driver, nullptr);
  for (const char* name :
       {"connections", "max_batch", "send_queue_bytes", "spin_us"}) {
    const SettingDeclaration* setting =
        FindSetting(driver->client_settings, name);
    ASSERT_NE(setting, nullptr) << name;
    EXPECT_LT(setting->minimum, setting->maximum) << name;
  }
  EXPECT_NE(FindSetting(driver->server_settings, "max_batch"), nullptr);
  EXPECT_THAT(driver->channel_settings.settings, Not(IsEmpty()));
}

// Drivers that are made without the catalog use the constants.
TEST(DriverCatalog, NumbersOfConnectionsAreThoseOfTheDrivers) {
  const SettingsDeclaration& client = FindDriver("tcp")->client_settings;
  ExpectLimits(client, {kTcpConnections, kCallsPerConnection, kTcpMaxBatch,
                        kTcpSendQueueBytes, kDscp, kSendBufferBytes,
                        kReceiveBufferBytes, kBusyPollUs, kMaxPacingRate});
  EXPECT_EQ(FindSetting(client, "spin_us")->default_value,
            SettingValue(kSpinByCpus));
  EXPECT_EQ(FindSetting(client, "spin_us")->maximum, kTcpSpinUs.maximum);
}

TEST(DriverCatalog, WordsAreThoseOfTheDrivers) {
  const DriverDeclaration* tcp = FindDriver("tcp");
  const auto words = [](const SettingsDeclaration& side, const char* name) {
    const SettingDeclaration* setting = FindSetting(side, name);
    return setting == nullptr ? std::vector<std::string>()
                              : setting->allowed_values;
  };
  EXPECT_THAT(words(tcp->channel_settings, kChannelPolicySetting),
              ElementsAre(kRoundRobinPolicy, kPickFirstPolicy));
  EXPECT_THAT(words(tcp->server_settings, kTransportSetting),
              ElementsAre(kTcpTransport, kUnixTransport));
  for (const char* name : {kNoDelay, kMptcp, kZeroCopy}) {
    EXPECT_THAT(words(tcp->client_settings, name), ElementsAre(kOn, kOff));
  }
  EXPECT_THAT(words(tcp->client_settings, kEcn), Contains(kRequired));
  EXPECT_NE(FindSetting(tcp->client_settings, kCongestionControl), nullptr);
}

TEST(DriverCatalog, NumbersOfStreamsAreThoseOfTheDriver) {
  const auto& client = FindDriver("grpc_stream")->client_settings;
  EXPECT_EQ(FindSetting(client, "streams")->maximum, kMaxGrpcStreams);
  EXPECT_EQ(FindSetting(client, "send_queue_messages")->default_value,
            SettingValue(kSendQueueMessages));
}

TEST(DriverCatalog, NetworkSettingsAreRefusedByNameWhereTheyAreNotDeclared) {
  const DriverDeclaration* tcp = FindDriver("tcp");
  const DriverDeclaration* grpc = FindDriver("grpc");
  for (const char* name :
       {"congestion_control", "dscp", "ecn", "send_buffer_bytes",
        "receive_buffer_bytes", "no_delay", "zero_copy", "busy_poll_us",
        "mptcp", "max_pacing_bytes_per_second"}) {
    const SettingDeclaration* of_tcp = FindSetting(tcp->client_settings, name);
    ASSERT_NE(of_tcp, nullptr) << name;
    EXPECT_EQ(of_tcp->needs_network, of_tcp->name != "send_buffer_bytes");
    for (const auto* side : {&grpc->client_settings, &grpc->server_settings}) {
      EXPECT_EQ(FindSetting(*side, name), nullptr) << name;
      EXPECT_EQ(side->refused.count(name), 1) << name;
    }
  }
}

// Validation relies on it. That the drivers do so is a claim of
// protocol/registry/registry_test.cc.
TEST(DriverCatalog, SaysWhoBreaksConnections) {
  std::set<std::string> breaking;
  for (const DriverDeclaration& driver : DriverCatalog()) {
    if (driver.breaks_connections) breaking.insert(driver.name);
  }
  EXPECT_THAT(breaking, testing::UnorderedElementsAre("composable_rpc_counter",
                                                      "double_barrel",
                                                      "loopback", "tcp"));
}

TEST(DriverCatalog, RefusedSettingsNameTheDriversThatHaveThem) {
  const auto& refused = FindDriver("grpc_stream")->client_settings.refused;
  EXPECT_EQ(refused.at("dscp"),
            "gRPC makes its own sockets; use the driver \"tcp\"");
  EXPECT_EQ(refused.at("ecn"), refused.at("dscp")) << "servers have it not";
  EXPECT_THAT(refused.at("calls_per_connection"),
              HasSubstr("replaces them; use the driver \"grpc\" or \"tcp\""));
}

TEST(DriverCatalog, DecoratorsRequireTheDriverThatTheyDecorate) {
  for (const char* name : {"double_barrel", "composable_rpc_counter"}) {
    const DriverDeclaration* driver = FindDriver(name);
    ASSERT_NE(driver, nullptr);
    const SettingDeclaration* setting =
        FindSetting(driver->server_settings, driver->decorated_driver_setting);
    ASSERT_NE(setting, nullptr);
    EXPECT_TRUE(setting->required);
  }
}

TEST(DriverCatalog, BuiltInDriversLeaveOutWhatOthersHave) {
  EXPECT_THAT(BuiltInDriverNames(), Contains("grpc"));
  EXPECT_THAT(BuiltInDriverNames(), Not(Contains("homa")));
  EXPECT_THAT(BuiltInDriverNames(), Not(Contains("mercury")));
}

}  // namespace
}  // namespace distbench::config
