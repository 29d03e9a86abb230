#include "distbench/protocol/registry/registry.h"

#include <cstdint>
#include <string>
#include <variant>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "optional_libraries.h"

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

TEST(RegistryTest, MakesDriversByName) {
  for (const char* name : {"grpc", "tcp", "thrift", "loopback"}) {
    config::DriverOptions options;
    options.driver = name;
    EXPECT_TRUE(MakeProtocolDriver(options, {}).ok()) << name;
  }
}

TEST(RegistryTest, HasTheDriversWhoseLibrariesThereAre) {
  const auto is_there = [](const char* name) {
    return MakeProtocolDriver({.driver = name}, {}).ok();
  };
  EXPECT_EQ(is_there("http2"), DISTBENCH_HAS_NGHTTP2 == 1);
  EXPECT_EQ(is_there("libfabric"), DISTBENCH_HAS_LIBFABRIC == 1);
}

#if DISTBENCH_HAS_LIBFABRIC
TEST(RegistryTest, LibfabricIsMadeWithItsProvider) {
  config::DriverOptions options = {.driver = "libfabric"};
  options.server_settings["provider"] = "no such";
  auto driver = MakeProtocolDriver(options, {});
  ASSERT_TRUE(driver.ok()) << driver.status();
  EXPECT_THAT(std::string((*driver)->Listen(1).status().message()),
              HasSubstr("no such"));
}
#endif

// Returns what the driver says without any connections.
int64_t BrokenConnections(const std::string& name) {
  auto driver =
      MakeProtocolDriver({.driver = name}, {.service_address = "127.0.0.1"});
  if (!driver.ok() || !(*driver)->Listen(1).ok()) return -2;
  return (*driver)->transport(0).BreakConnections();
}

// The drivers of config/catalogs/driver_catalog_test.cc, without aliases.
TEST(RegistryTest, DriversBreakConnectionsAsTheCatalogueSays) {
  for (const char* name : {"tcp", "thrift", "loopback"}) {
    EXPECT_EQ(BrokenConnections(name), 0) << name;
  }
#if DISTBENCH_HAS_NGHTTP2
  EXPECT_EQ(BrokenConnections("http2"), 0);
#endif
  for (const char* name : {"grpc", "grpc_stream"}) {
    EXPECT_EQ(BrokenConnections(name), -1) << name;
  }
#if DISTBENCH_HAS_LIBFABRIC
  EXPECT_EQ(BrokenConnections("libfabric"), -1);
#endif
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
