#include "distbench/config/catalogs/driver_catalog.h"

#include <cstdint>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::IsNull;
using ::testing::Not;

const SettingDeclaration* FindSetting(const SettingsDeclaration& declaration,
                                      const std::string& name) {
  for (const SettingDeclaration& setting : declaration.settings) {
    if (setting.name == name) return &setting;
  }
  return nullptr;
}

TEST(DriverCatalog, HasDocumentedDriversOfDistinctNames) {
  std::set<std::string> names;
  for (const DriverDeclaration& driver : DriverCatalog()) {
    EXPECT_TRUE(names.insert(driver.name).second) << driver.name;
    EXPECT_THAT(driver.description, Not(IsEmpty())) << driver.name;
    EXPECT_EQ(FindDriver(driver.name), &driver);
    for (const auto* side : {&driver.client_settings, &driver.server_settings,
                             &driver.channel_settings}) {
      for (const SettingDeclaration& setting : side->settings) {
        EXPECT_THAT(setting.description, Not(IsEmpty())) << setting.name;
      }
    }
  }
  EXPECT_THAT(FindDriver("grp"), IsNull());
}

TEST(DriverCatalog, EveryDefaultIsAllowed) {
  for (const DriverDeclaration& driver : DriverCatalog()) {
    for (const auto* side : {&driver.client_settings, &driver.server_settings,
                             &driver.channel_settings}) {
      for (const SettingDeclaration& setting : side->settings) {
        if (setting.required) continue;
        if (const auto* number = std::get_if<int64_t>(&setting.default_value)) {
          EXPECT_GE(*number, setting.minimum) << setting.name;
          EXPECT_LE(*number, setting.maximum) << setting.name;
        } else if (!setting.allowed_values.empty()) {
          EXPECT_THAT(setting.allowed_values,
                      Contains(std::get<std::string>(setting.default_value)));
        }
      }
    }
  }
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

TEST(DriverCatalog, Http2HasWindowsOnBothSides) {
  const DriverDeclaration* driver = FindDriver("http2");
  ASSERT_NE(driver, nullptr);
  for (const auto* side :
       {&driver->client_settings, &driver->server_settings}) {
    for (const char* name :
         {"stream_window_bytes", "connection_window_bytes", "spin_us"}) {
      EXPECT_NE(FindSetting(*side, name), nullptr) << name;
    }
  }
  EXPECT_NE(FindSetting(driver->server_settings, "max_concurrent_streams"),
            nullptr);
}

TEST(DriverCatalog, NetworkSettingsAreRefusedByNameWhereTheyAreNotDeclared) {
  const DriverDeclaration* tcp = FindDriver("tcp");
  const DriverDeclaration* grpc = FindDriver("grpc");
  for (const char* name :
       {"congestion_control", "dscp", "ecn", "send_buffer_bytes",
        "receive_buffer_bytes", "no_delay", "zero_copy", "busy_poll_us",
        "mptcp", "max_pacing_bytes_per_second"}) {
    EXPECT_NE(FindSetting(tcp->client_settings, name), nullptr) << name;
    for (const auto* side : {&grpc->client_settings, &grpc->server_settings}) {
      EXPECT_EQ(FindSetting(*side, name), nullptr) << name;
      EXPECT_EQ(side->refused.count(name), 1) << name;
    }
  }
}

TEST(DriverCatalog, AllDriversWithOurSocketsHaveTheirSettings) {
  for (const char* name : {"http2", "thrift"}) {
    const DriverDeclaration* driver = FindDriver(name);
    EXPECT_NE(FindSetting(driver->client_settings, "ecn"), nullptr) << name;
    for (const auto* side :
         {&driver->client_settings, &driver->server_settings}) {
      EXPECT_NE(FindSetting(*side, "dscp"), nullptr) << name;
      EXPECT_EQ(FindSetting(*side, "zero_copy"), nullptr) << name;
    }
  }
}

TEST(DriverCatalog, LibfabricIsKnownEvenIfItIsLeftOut) {
  const DriverDeclaration* driver = FindDriver("libfabric");
  ASSERT_NE(driver, nullptr);
  EXPECT_EQ(driver->package, "libfabric-dev");
  EXPECT_EQ(FindSetting(driver->server_settings, "provider")->default_value,
            SettingValue("tcp"));
  EXPECT_EQ(FindSetting(driver->server_settings, "endpoint")->default_value,
            SettingValue("rdm"));
  EXPECT_NE(FindSetting(driver->server_settings, "receive_buffers"), nullptr);
  EXPECT_NE(FindSetting(driver->client_settings, "send_queue_bytes"), nullptr);
}

// Validation relies on it. That the drivers do so is a claim of their tests
// (protocol/testing, protocol/registry/registry_test.cc).
TEST(DriverCatalog, SaysWhoGivesUpCallsAndWhoBreaksConnections) {
  std::set<std::string> breaking;
  for (const DriverDeclaration& driver : DriverCatalog()) {
    const bool is_there = driver.built_in || !driver.package.empty();
    EXPECT_EQ(driver.cancels_calls, is_there) << driver.name;
    if (driver.breaks_connections) breaking.insert(driver.name);
  }
  EXPECT_THAT(breaking, testing::UnorderedElementsAre(
                            "composable_rpc_counter", "double_barrel", "http2",
                            "loopback", "tcp", "thrift"));
}

TEST(DriverCatalog, CallsPerConnectionAreRefusedByNameByTheOthers) {
  for (const DriverDeclaration& driver : DriverCatalog()) {
    if (!driver.built_in || !driver.decorated_driver_setting.empty()) continue;
    const bool has_it =
        FindSetting(driver.client_settings, "calls_per_connection") != nullptr;
    const bool refuses =
        driver.client_settings.refused.contains("calls_per_connection");
    EXPECT_NE(has_it, refuses) << driver.name;
  }
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
