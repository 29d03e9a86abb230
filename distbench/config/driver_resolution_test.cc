#include "distbench/config/driver_resolution.h"

#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

// Resolves the drivers of the first service.
absl::StatusOr<DriverOptions> Resolve(const std::string& text) {
  DistributedSystemDescription test;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &test));
  const TestNames names(test);
  const auto stack =
      ResolveDriverStack(test, names, OptionsOf(test, names, test.services(0)));
  if (!stack.ok()) return stack.status();
  return MakeDriverOptions(*stack);
}

std::string ErrorOf(const std::string& text) {
  return std::string(Resolve(text).status().message());
}

TEST(ResolveDriver, DefaultsToGrpcWithAllDefaults) {
  const auto options = Resolve("services {}");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->driver, "grpc");
  EXPECT_EQ(options->ip_version, 0);
  EXPECT_THAT(options->netdev, IsEmpty());
  EXPECT_THAT(options->client_settings,
              Contains(Pair("client_type", SettingValue("polling"))));
  EXPECT_THAT(options->server_settings,
              Contains(Pair("server_type", SettingValue("inline"))));
  EXPECT_THAT(options->server_settings,
              Contains(Pair("threadpool_size", SettingValue(int64_t{0}))));
}

TEST(ResolveDriver, NamedOptionsBeatDefaultOptionsBeatDefaultProtocol) {
  const std::string options = R"(
    protocol_driver_options { name: 'mine' protocol_name: 'tcp' ip_version: 4 }
    protocol_driver_options {
      name: 'default_protocol_driver_options' netdev_name: 'eth1'
    })";
  EXPECT_EQ(
      Resolve("services { protocol_driver_options_name: 'mine' }" + options)
          ->ip_version,
      4);
  const auto by_default =
      Resolve("services {} default_protocol: 'loopback'" + options);
  EXPECT_EQ(by_default->netdev, "eth1");
  EXPECT_EQ(by_default->driver, "loopback");
  EXPECT_EQ(Resolve("services {} default_protocol: 'tcp'")->driver, "tcp");
}

TEST(ResolveDriver, OptionsNamedByProtocolNameReplaceTheOthers) {
  const auto options = Resolve(R"(
    services {}
    default_protocol: 'a'
    protocol_driver_options { name: 'a' protocol_name: 'b' netdev_name: 'eth1' }
    protocol_driver_options { name: 'b' protocol_name: 'tcp' ip_version: 6 })");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->driver, "tcp");
  EXPECT_EQ(options->ip_version, 6);
  EXPECT_THAT(options->netdev, IsEmpty());
}

TEST(ResolveDriver, UnknownNamesAreExplained) {
  EXPECT_EQ(ErrorOf("services {} default_protocol: 'grcp'"),
            "no driver and no options are named \"grcp\"; did you mean "
            "\"grpc\"?");
  EXPECT_THAT(ErrorOf("services {} default_protocol: 'fast_driver' "
                      "protocol_driver_options { name: 'fast_drivers' }"),
              HasSubstr("did you mean \"fast_drivers\"?"));
}

TEST(ResolveDriver, CirclesAndLongChainsAreRefused) {
  EXPECT_THAT(ErrorOf("services {} default_protocol: 'a' "
                      "protocol_driver_options { name: 'a' }"),
              HasSubstr("more than 4 protocol_driver_options"));
  std::string chain = "services {} default_protocol: 'o1' ";
  for (int i = 1; i < 4; ++i) {
    chain += "protocol_driver_options { name: 'o" + std::to_string(i) +
             "' protocol_name: 'o" + std::to_string(i + 1) + "' }";
  }
  EXPECT_TRUE(Resolve(chain + "protocol_driver_options { name: 'o4' "
                              "protocol_name: 'tcp' }")
                  .ok());
  EXPECT_THAT(ErrorOf(chain + "protocol_driver_options { name: 'o4' "
                              "protocol_name: 'o5' }"
                              "protocol_driver_options { name: 'o5' "
                              "protocol_name: 'tcp' }"),
              HasSubstr("more than 4"));
}

TEST(ResolveDriver, AsyncCallbackBecomesGrpc) {
  const auto options = Resolve(R"(
    services {}
    default_protocol: 'grpc_async_callback')");
  EXPECT_EQ(options->driver, "grpc");
  EXPECT_THAT(options->client_settings,
              Contains(Pair("client_type", SettingValue("callback"))));
  EXPECT_THAT(options->server_settings,
              Contains(Pair("server_type", SettingValue("handoff"))));
}

TEST(ResolveDriver, DecoratorsStack) {
  const auto options = Resolve(R"(
    services {}
    protocol_driver_options {
      name: 'default_protocol_driver_options'
      protocol_name: 'double_barrel'
      server_settings { name: 'next_protocol_driver' string_value: 'counted' }
    }
    protocol_driver_options {
      name: 'counted'
      protocol_name: 'composable_rpc_counter'
      server_settings { name: 'driver_under_test' string_value: 'tcp' }
    })");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->driver, "double_barrel");
  ASSERT_THAT(options->decorated, SizeIs(1));
  EXPECT_EQ(options->decorated[0].driver, "composable_rpc_counter");
  ASSERT_THAT(options->decorated[0].decorated, SizeIs(1));
  EXPECT_EQ(options->decorated[0].decorated[0].driver, "tcp");
}

TEST(ResolveDriver, DecoratorsOfThemselvesAreRefused) {
  EXPECT_THAT(ErrorOf(R"(
    services {}
    default_protocol: 'a'
    protocol_driver_options {
      name: 'a'
      protocol_name: 'double_barrel'
      server_settings { name: 'next_protocol_driver' string_value: 'a' }
    })"),
              HasSubstr("more than 4 drivers follow one another"));
}

}  // namespace
}  // namespace distbench
