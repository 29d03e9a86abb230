// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/registry/registry.h"

#include <cstdint>
#include <string>
#include <variant>

#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/protocol/registry/testing/driver_registration.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

int64_t SpinOf(const config::DriverOptions& options) {
  const auto found = options.client_settings.find("spin_us");
  return found == options.client_settings.end()
             ? -1
             : std::get<int64_t>(found->second);
}

config::DriverOptions ByCpus() {
  config::DriverOptions options;
  options.client_settings["spin_us"] = config::kSpinByCpus;
  options.server_settings["spin_us"] = config::kSpinByCpus;
  return options;
}

TEST(SpareCpuTest, WorkersSpinWhereThereAreCpusToSpare) {
  EXPECT_EQ(SpinOf(WithSpinning(ByCpus(), true)), kSpareCpuSpinUs);
  EXPECT_EQ(SpinOf(WithSpinning(ByCpus(), false)), -1) << "missing, which is 0";
  EXPECT_TRUE(WithSpinning(ByCpus(), true).server_settings.empty());
}

TEST(SpareCpuTest, WhatOneSideSaysCounts) {
  config::DriverOptions options = ByCpus();
  options.client_settings["spin_us"] = int64_t{7};
  EXPECT_EQ(SpinOf(WithSpinning(options, true)), 7);
  options = ByCpus();
  options.server_settings["spin_us"] = int64_t{0};
  EXPECT_EQ(SpinOf(WithSpinning(options, true)), -1);
}

TEST(SpareCpuTest, DriversWithoutTheSettingDoNotSpin) {
  EXPECT_EQ(SpinOf(WithSpinning({.driver = "loopback"}, true)), -1);
}

TEST(RegistryTest, HasTheDriversOfTheCatalog) {
  for (const config::DriverDeclaration& driver : config::DriverCatalog()) {
    const bool has_a_maker =
        driver.alias_of.empty() && driver.decorated_driver_setting.empty();
    if (driver.built_in && has_a_maker) ExpectIsRegistered(driver.name);
  }
}

TEST(RegistryTest, DecoratorsMayDecorateDecorators) {
  const config::DriverOptions counter = {
      .driver = "composable_rpc_counter",
      .decorated = {
          {.driver = "double_barrel", .decorated = {{.driver = "loopback"}}}}};
  auto driver = MakeProtocolDriver(counter, {});
  ASSERT_TRUE(driver.ok()) << driver.status();
  EXPECT_THAT((*driver)->Listen(1).value(), HasSubstr("loopback:"));
}

TEST(RegistryTest, DecoratorsNeedADriverThatThereIs) {
  config::DriverOptions options;
  options.driver = "double_barrel";
  EXPECT_EQ(MakeProtocolDriver(options, {}).status().code(),
            absl::StatusCode::kInvalidArgument);
  options.decorated.emplace_back().driver = "homa";
  EXPECT_EQ(MakeProtocolDriver(options, {}).status().code(),
            absl::StatusCode::kNotFound);
}

TEST(RegistryTest, UnknownNamesAreToldWhatThereIs) {
  config::DriverOptions options;
  options.driver = "homa";
  const absl::Status status = MakeProtocolDriver(options, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("\"homa\""), HasSubstr("\"grpc\"")));
}

}  // namespace
}  // namespace distbench::protocol
