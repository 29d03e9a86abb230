// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/catalogs/testing/declaration_testing.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

void ExpectDefaultIsAllowed(const SettingDeclaration& setting) {
  if (const auto* number = std::get_if<int64_t>(&setting.default_value)) {
    EXPECT_GE(*number, setting.minimum) << setting.name;
    EXPECT_LE(*number, setting.maximum) << setting.name;
  } else if (!setting.allowed_values.empty()) {
    EXPECT_THAT(setting.allowed_values,
                Contains(std::get<std::string>(setting.default_value)));
  }
}

}  // namespace

void ExpectIsWellDeclared(const DriverDeclaration& driver) {
  SCOPED_TRACE(driver.name);
  EXPECT_THAT(driver.description, Not(IsEmpty()));
  for (const auto* side : {&driver.client_settings, &driver.server_settings,
                           &driver.channel_settings}) {
    for (const SettingDeclaration& setting : side->settings) {
      EXPECT_THAT(setting.description, Not(IsEmpty())) << setting.name;
      if (!setting.required) ExpectDefaultIsAllowed(setting);
    }
  }
  const bool is_there = driver.built_in || !driver.package.empty();
  EXPECT_EQ(driver.cancels_calls, is_there);
  if (!driver.built_in || !driver.decorated_driver_setting.empty()) return;
  // Users look for this setting, wherever it is.
  EXPECT_NE(
      FindSetting(driver.client_settings, "calls_per_connection") == nullptr,
      driver.client_settings.refused.count("calls_per_connection") == 0);
}

void ExpectLimits(const SettingsDeclaration& side,
                  const std::vector<TcpSettingLimits>& limits) {
  for (const TcpSettingLimits& each : limits) {
    const SettingDeclaration* const setting = FindSetting(side, each.name);
    ASSERT_NE(setting, nullptr) << each.name;
    EXPECT_EQ(setting->default_value, SettingValue(each.default_value))
        << each.name;
    EXPECT_EQ(setting->minimum, each.minimum) << each.name;
    EXPECT_EQ(setting->maximum, each.maximum) << each.name;
  }
}

}  // namespace distbench::config
