// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/catalogs/driver_resolution.h"

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "distbench/base/testing/proto_testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

// Resolves the drivers of the first service.
struct Resolution {
  std::optional<DriverOptions> options;
  DriverProblem problem;
};

Resolution ResolveFirst(const std::string& text) {
  const auto test = base::FromText<DistributedSystemDescription>(text);
  const TestNames names(test);
  const DriverStack stack =
      ResolveDriverStack(test, names, OptionsOf(names, test.services(0)));
  if (stack.problem.has_value()) return {.problem = *stack.problem};
  return {.options = MakeDriverOptions(stack.drivers)};
}

absl::StatusOr<DriverOptions> Resolve(const std::string& text) {
  const Resolution resolution = ResolveFirst(text);
  if (resolution.options.has_value()) return *resolution.options;
  return absl::InvalidArgumentError(resolution.problem.message);
}

std::string ErrorOf(const std::string& text) {
  return ResolveFirst(text).problem.message;
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

TEST(ResolveDriver, CirclesAreRefused) {
  EXPECT_THAT(ErrorOf("services {} default_protocol: 'a' "
                      "protocol_driver_options { name: 'a' }"),
              HasSubstr("more than 4 protocol_driver_options"));
}

// Options o1 to oN, each of which names the next one; the last names a driver.
std::string Aliases(int count) {
  std::string aliases;
  for (int i = 1; i <= count; ++i) {
    absl::StrAppend(&aliases, "protocol_driver_options { name: 'o", i,
                    "' protocol_name: '",
                    i == count ? "tcp" : absl::StrCat("o", i + 1), "' }");
  }
  return aliases;
}

// A name may lead through four options, whoever refers to it.
TEST(ResolveDriver, NamesLeadThroughFourOptions) {
  const std::string decorated = R"(
    services { protocol_driver_options_name: 'outer' }
    protocol_driver_options {
      name: 'outer'
      protocol_name: 'double_barrel'
      server_settings { name: 'next_protocol_driver' string_value: 'o1' }
    })";
  const std::string start =
      "services { protocol_driver_options_name: 'start' }"
      "protocol_driver_options { name: 'start' "
      "protocol_name: 'o1' }";
  for (const std::string& test :
       {std::string("services {} default_protocol: 'o1'"), decorated, start}) {
    EXPECT_TRUE(Resolve(test + Aliases(4)).ok()) << test;
    EXPECT_THAT(ErrorOf(test + Aliases(5)),
                HasSubstr("more than 4 protocol_driver_options"))
        << test;
  }
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

TEST(ResolveDriver, DecoratedDriversShareTheOptionsOfTheDecorator) {
  const auto options = Resolve(R"(
    services {}
    protocol_driver_options {
      name: 'default_protocol_driver_options'
      protocol_name: 'double_barrel'
      ip_version: 4
      server_settings {
        name: 'next_protocol_driver' string_value: 'composable_rpc_counter'
      }
      server_settings { name: 'driver_under_test' string_value: 'grpc' }
      server_settings { name: 'server_type' string_value: 'handoff' }
      client_settings { name: 'client_type' string_value: 'callback' }
    })");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->server_settings.count("server_type"), 0);
  ASSERT_THAT(options->decorated, SizeIs(1));
  ASSERT_THAT(options->decorated[0].decorated, SizeIs(1));
  const DriverOptions& grpc = options->decorated[0].decorated[0];
  EXPECT_EQ(grpc.driver, "grpc");
  EXPECT_EQ(grpc.ip_version, 4);
  EXPECT_THAT(grpc.client_settings,
              Contains(Pair("client_type", SettingValue("callback"))));
  EXPECT_THAT(grpc.server_settings,
              Contains(Pair("server_type", SettingValue("handoff"))));
  EXPECT_EQ(grpc.server_settings.count("driver_under_test"), 0);
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

// Options d1 to dN, each of which decorates the next one; the last decorates
// tcp.
std::string Decorators(int count) {
  std::string decorators;
  for (int i = 1; i <= count; ++i) {
    absl::StrAppend(&decorators, "protocol_driver_options { name: 'd", i,
                    "' protocol_name: 'double_barrel' server_settings { name: "
                    "'next_protocol_driver' string_value: '",
                    i == count ? "tcp" : absl::StrCat("d", i + 1), "' } }");
  }
  return decorators;
}

TEST(ResolveDriver, FourDriversMayBeAroundOneAnother) {
  const std::string test = "services {} default_protocol: 'd1'";
  EXPECT_TRUE(Resolve(test + Decorators(3)).ok());
  EXPECT_THAT(ErrorOf(test + Decorators(4)), HasSubstr("more than 4 drivers"));
}

TEST(ResolveDriver, DecoratorsWithoutASettingAreRefused) {
  for (const std::string decorator :
       {"double_barrel", "composable_rpc_counter"}) {
    EXPECT_THAT(ErrorOf("services {} default_protocol: '" + decorator + "'"),
                HasSubstr("driver \"" + decorator + "\" needs the setting"));
  }
}

TEST(ResolveDriver, DriversThatAreNotBuiltInAreRefused) {
  EXPECT_THAT(ErrorOf("services {} default_protocol: 'homa'"),
              HasSubstr("is not built into this distbench"));
}

// The places to blame: the setting and the protocol_name of options, and the
// test's default_protocol.
TEST(ResolveDriver, TheNameToBlameIsFound) {
  const std::string last = R"(
    protocol_driver_options {
      name: 'last'
      protocol_name: 'double_barrel'
      server_settings {
        name: 'next_protocol_driver' string_value: 'composable_rpc_counter'
      }
    })";
  const DriverProblem of_setting =
      ResolveFirst(
          "services { protocol_driver_options_name: 'first' }"
          "protocol_driver_options { name: 'first' protocol_name: 'last' }" +
          last)
          .problem;
  EXPECT_EQ(of_setting.options, 1);
  EXPECT_EQ(of_setting.server_setting, "next_protocol_driver");
  const DriverProblem of_options =
      ResolveFirst(
          "services { protocol_driver_options_name: 'first' }"
          "protocol_driver_options { name: 'first' protocol_name: 'lost' }")
          .problem;
  EXPECT_EQ(of_options.options, 0);
  EXPECT_EQ(of_options.server_setting, "");
  const DriverProblem of_test =
      ResolveFirst(
          "services { protocol_driver_options_name: 'first' }"
          "protocol_driver_options { name: 'first' }"
          "default_protocol: 'lost'")
          .problem;
  EXPECT_EQ(of_test.options, kNone);
}

}  // namespace
}  // namespace distbench::config
