// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "distbench/config/testing/validation_cases.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

class BadDriver : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadDriver, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rules, BadDriver,
    ::testing::Values(
        ValidationCase{"UnknownDefaultProtocol", "", "default_protocol: 'grcp'",
                       "default_protocol",
                       "no driver and no options are named \"grcp\"; did you "
                       "mean \"grpc\"?"},
        ValidationCase{"DefaultProtocolIsNotBuiltIn", "",
                       "default_protocol: 'homa'", "default_protocol",
                       "driver \"homa\" is not built into this distbench; "
                       "available are \"grpc\""},
        ValidationCase{
            "UnknownOptions", "name: 'client' count: 2",
            "name: 'client' count: 2 protocol_driver_options_name: 'fats'",
            "services[\"client\"].protocol_driver_options_name",
            "no protocol_driver_options entry is named \"fats\"; did you mean "
            "\"fast\"?"},
        ValidationCase{
            "UnknownProtocol", "",
            "protocol_driver_options { name: 'new' protocol_name: 'udp' }",
            "protocol_driver_options[\"new\"].protocol_name",
            "no driver and no options are named \"udp\"; must be one of "
            "\"grpc\""},
        ValidationCase{
            "ProtocolIsNotBuiltIn", "",
            "protocol_driver_options { name: 'new' protocol_name: 'mercury' }",
            "protocol_driver_options[\"new\"].protocol_name",
            "driver \"mercury\" is not built in"},
        ValidationCase{
            "OptionsLeadInACircle", "",
            "protocol_driver_options { name: 'new' protocol_name: 'new' }",
            "protocol_driver_options[\"new\"].protocol_name",
            "more than 4 protocol_driver_options follow one another"},
        ValidationCase{
            "SettingsWithoutEffect", "",
            "protocol_driver_options { name: 'new' protocol_name: "
            "'fast' ip_version: 4 }",
            "protocol_driver_options[\"new\"]",
            "its settings have no effect, because the protocol leads to "
            "the options \"fast\""},
        ValidationCase{"UnknownIpVersion", "",
                       "protocol_driver_options { name: 'new' ip_version: 5 }",
                       "protocol_driver_options[\"new\"].ip_version",
                       "5 is not an IP version; must be 4 or 6, or 0"},
        ValidationCase{"LongDeviceName", "",
                       "protocol_driver_options { name: 'new' netdev_name: "
                       "'a_very_long_device' }",
                       "protocol_driver_options[\"new\"].netdev_name",
                       "cannot be the name of a network device"},
        ValidationCase{
            "DeviceNameWithSlash", "",
            "protocol_driver_options { name: 'new' netdev_name: '/dev/eth0' }",
            "protocol_driver_options[\"new\"].netdev_name",
            "cannot be the name of a network device"},
        ValidationCase{
            "UnknownClientSetting", "",
            "protocol_driver_options { name: 'new' client_settings { name: "
            "'client_typ' string_value: 'polling' } }",
            "protocol_driver_options[\"new\"].client_settings[\"client_typ\"]",
            "driver \"grpc\" has no setting \"client_typ\" here; did you mean "
            "\"client_type\"?"},
        ValidationCase{
            "ServerSettingOnTheClientSide", "",
            "protocol_driver_options { name: 'new' client_settings { name: "
            "'server_type' string_value: 'inline' } }",
            "protocol_driver_options[\"new\"].client_settings[\"server_type\"]",
            "it has \"client_type\", \"channels\", \"calls_per_connection\", "
            "\"spin_us\" and names "
            "that begin with "
            "\"grpc.\""},
        ValidationCase{
            "UnknownServerType", "",
            "protocol_driver_options { name: 'new' server_settings { name: "
            "'server_type' string_value: 'async' } }",
            "protocol_driver_options[\"new\"].server_settings[\"server_type\"]",
            "\"async\" is not a valid value; must be one of \"inline\", "
            "\"handoff\", \"polling\""},
        ValidationCase{
            "UnknownClientType", "",
            "protocol_driver_options { name: 'new' client_settings { name: "
            "'client_type' string_value: 'inline' } }",
            "protocol_driver_options[\"new\"].client_settings[\"client_type\"]",
            "must be one of \"polling\", \"callback\""},
        ValidationCase{
            "ChannelArgumentBeyondMemory", "",
            "protocol_driver_options { name: 'new' server_settings { name: "
            "'grpc.experimental.tcp_tx_zerocopy_max_simultaneous_sends' "
            "int64_value: 2147483647 } }",
            "protocol_driver_options[\"new\"].server_settings[\"grpc."
            "experimental.tcp_tx_zerocopy_max_simultaneous_sends\"]",
            "2147483647 is out of range; must be from -2147483648 to 10000"},
        ValidationCase{
            "UnknownPool", "",
            "protocol_driver_options { name: 'new' server_settings { name: "
            "'threadpool_type' string_value: 'mercury' } }",
            "protocol_driver_options[\"new\"].server_settings[\"threadpool_"
            "type\"]",
            "must be one of \"\", \"elastic\", \"simple\", \"null\""},
        ValidationCase{"NegativePoolSize", "",
                       "protocol_driver_options { name: 'new' server_settings "
                       "{ name: 'threadpool_size' int64_value: -1 } }",
                       "protocol_driver_options[\"new\"].server_settings["
                       "\"threadpool_size\"]",
                       "-1 is out of range"},
        ValidationCase{"PoolSizeIsAString", "",
                       "protocol_driver_options { name: 'new' server_settings "
                       "{ name: 'threadpool_size' string_value: '8' } }",
                       "protocol_driver_options[\"new\"].server_settings["
                       "\"threadpool_size\"]",
                       "is a number; give int64_value"},
        ValidationCase{
            "UnknownTransport", "",
            "protocol_driver_options { name: 'new' server_settings { name: "
            "'transport' string_value: 'homa' } }",
            "protocol_driver_options[\"new\"].server_settings[\"transport\"]",
            "must be one of \"tcp\", \"unix\""},
        ValidationCase{
            "UnixSocketOnADevice", "",
            "protocol_driver_options { name: 'new' protocol_name: 'tcp' "
            "netdev_name: 'lo' server_settings { name: 'transport' "
            "string_value: 'unix' } }",
            "protocol_driver_options[\"new\"].netdev_name",
            "has no effect on Unix sockets; remove it"},
        ValidationCase{
            "UnixSocketOfAnIpVersion", "",
            "protocol_driver_options { name: 'new' ip_version: 4 "
            "server_settings { name: 'transport' string_value: 'unix' } }",
            "protocol_driver_options[\"new\"].ip_version",
            "has no effect on Unix sockets; remove it"},
        ValidationCase{
            "NetworkSettingOfAUnixSocket", "",
            "protocol_driver_options { name: 'new' protocol_name: 'tcp' "
            "client_settings { name: 'send_buffer_bytes' int64_value: 5000 } "
            "client_settings { name: 'dscp' int64_value: 10 } "
            "server_settings { name: 'transport' string_value: 'unix' } }",
            "protocol_driver_options[\"new\"].client_settings[\"dscp\"]",
            "has no effect on Unix sockets; remove it"},
        ValidationCase{
            "NetworkSettingOfGrpcOnUnixSockets", "",
            "protocol_driver_options { name: 'new' server_settings { name: "
            "'dscp' int64_value: 10 } server_settings { name: 'transport' "
            "string_value: 'unix' } }",
            "protocol_driver_options[\"new\"].server_settings[\"dscp\"]",
            "driver \"grpc\" cannot have the setting \"dscp\""},
        ValidationCase{
            "NetworkSettingOfGrpc", "",
            "protocol_driver_options { name: 'new' server_settings { name: "
            "'dscp' int64_value: 10 } }",
            "protocol_driver_options[\"new\"].server_settings[\"dscp\"]",
            "driver \"grpc\" cannot have the setting \"dscp\": gRPC makes its "
            "own sockets; use the driver \"tcp\""},
        ValidationCase{
            "DscpOutOfRange", "",
            "protocol_driver_options { name: 'new' protocol_name: 'tcp' "
            "server_settings { name: 'dscp' int64_value: 64 } }",
            "protocol_driver_options[\"new\"].server_settings[\"dscp\"]", "64"},
        ValidationCase{
            "EcnIsAClientSetting", "",
            "protocol_driver_options { name: 'new' protocol_name: 'tcp' "
            "server_settings { name: 'ecn' string_value: 'require' } }",
            "protocol_driver_options[\"new\"].server_settings[\"ecn\"]",
            "driver \"tcp\" has no setting \"ecn\" here"},
        ValidationCase{
            "StreamsHandledByAPool", "",
            "protocol_driver_options { name: 'new' protocol_name: "
            "'grpc_stream' server_settings { name: 'server_type' "
            "string_value: 'handoff' } }",
            "protocol_driver_options[\"new\"].server_settings[\"server_type\"]",
            "must be one of \"inline\""},
        ValidationCase{
            "SettingOfADriverWithoutAny", "",
            "protocol_driver_options { name: 'new' protocol_name: 'loopback' "
            "client_settings { name: 'spin_us' int64_value: 1 } }",
            "protocol_driver_options[\"new\"].client_settings[\"spin_us\"]",
            "driver \"loopback\" has no setting \"spin_us\" here; it has none"},
        ValidationCase{"DecoratorOfNothing", "",
                       "protocol_driver_options { name: 'new' protocol_name: "
                       "'double_barrel' }",
                       "protocol_driver_options[\"new\"].server_settings",
                       "setting \"next_protocol_driver\" is missing; driver "
                       "\"double_barrel\" needs it"},
        ValidationCase{"DecoratorOfUnknownDriver", "",
                       "protocol_driver_options { name: 'new' protocol_name: "
                       "'double_barrel' server_settings { name: "
                       "'next_protocol_driver' string_value: 'udp' } }",
                       "protocol_driver_options[\"new\"].server_settings["
                       "\"next_protocol_driver\"]",
                       "no driver and no options are named \"udp\""},
        ValidationCase{"DecoratorOfItself", "",
                       "protocol_driver_options { name: 'new' protocol_name: "
                       "'double_barrel' server_settings { name: "
                       "'next_protocol_driver' string_value: 'new' } }",
                       "protocol_driver_options[\"new\"].server_settings["
                       "\"next_protocol_driver\"]",
                       "more than 4 drivers follow one another"},
        ValidationCase{"DecoratorOfABareDecorator", "",
                       "protocol_driver_options { name: 'new' protocol_name: "
                       "'double_barrel' server_settings { name: "
                       "'next_protocol_driver' string_value: "
                       "'composable_rpc_counter' } }",
                       "protocol_driver_options[\"new\"].server_settings["
                       "\"next_protocol_driver\"]",
                       "driver \"composable_rpc_counter\" needs the setting "
                       "\"driver_under_test\"; add it here, or name "
                       "protocol_driver_options that have it"},
        ValidationCase{"DecoratorOfNoName", "",
                       "protocol_driver_options { name: 'new' protocol_name: "
                       "'double_barrel' server_settings { name: "
                       "'next_protocol_driver' string_value: '' } }",
                       "protocol_driver_options[\"new\"].server_settings["
                       "\"next_protocol_driver\"]",
                       "must not be empty"},
        ValidationCase{"DefaultProtocolIsABareDecorator", "",
                       "default_protocol: 'double_barrel'", "default_protocol",
                       "driver \"double_barrel\" needs the setting "
                       "\"next_protocol_driver\"; name "
                       "protocol_driver_options that have it"},
        ValidationCase{
            "DefaultProtocolLeadsTooFar", "",
            "default_protocol: 'o1' "
            "protocol_driver_options { name: 'o1' protocol_name: 'o2' }"
            "protocol_driver_options { name: 'o2' protocol_name: 'o3' }"
            "protocol_driver_options { name: 'o3' protocol_name: 'o4' }"
            "protocol_driver_options { name: 'o4' protocol_name: 'o5' }"
            "protocol_driver_options { name: 'o5' protocol_name: 'grpc' }",
            "default_protocol",
            "more than 4 protocol_driver_options follow one another, up to "
            "\"o5\"; name a driver earlier"},
        ValidationCase{
            "OneBadNameThatManyLeadTo", "",
            "default_protocol: 'o1' "
            "protocol_driver_options { name: 'o1' protocol_name: 'o2' }"
            "protocol_driver_options { name: 'o2' protocol_name: 'udp' }",
            "protocol_driver_options[\"o2\"].protocol_name",
            "no driver and no options are named \"udp\""},
        ValidationCase{
            "UnknownDefaultProtocolThatNobodyUses", "",
            "default_protocol: 'grcp' protocol_driver_options { name: "
            "'default_protocol_driver_options' protocol_name: 'grpc' }",
            "default_protocol", "no driver and no options are named \"grcp\""},
        ValidationCase{
            "DecoratorSettingOfAnother", "",
            "protocol_driver_options { name: 'new' protocol_name: "
            "'double_barrel' server_settings { name: 'driver_under_test' "
            "string_value: 'grpc' } server_settings { name: "
            "'next_protocol_driver' string_value: 'grpc' } }",
            "protocol_driver_options[\"new\"].server_settings[\"driver_under_"
            "test\"]",
            "it has \"next_protocol_driver\""},
        ValidationCase{
            "DifferentDriversOfClientAndServer", "name: 'client' count: 2",
            "name: 'client' count: 2 protocol_driver_options_name: 'loop' } "
            "protocol_driver_options { name: 'loop' protocol_name: 'loopback'",
            "rpc_descriptions[\"query\"].client[0]",
            "service \"client\" uses driver \"loopback\", and the server "
            "\"server\" uses \"grpc\"; an RPC needs the same driver on both "
            "sides"},
        ValidationCase{
            "MoreStreamsThanTheServerLetsIn", "name: 'client' count: 2",
            "name: 'client' count: 2 protocol_driver_options_name: 'many' } "
            "protocol_driver_options { name: 'many' protocol_name: "
            "'grpc_stream' client_settings { name: 'streams' int64_value: 4 } "
            "} protocol_driver_options { name: "
            "'default_protocol_driver_options' protocol_name: 'grpc_stream' "
            "server_settings { name: 'grpc.max_concurrent_streams' "
            "int64_value: 3 }",
            "rpc_descriptions[\"query\"].client[0]",
            "service \"client\" opens 4 streams on each connection "
            "(\"streams\"), of which the server lets in 3"}),
    [](const auto& info) { return info.param.rule; });

TEST(ValidateDrivers, AcceptsChannelArguments) {
  EXPECT_THAT(
      ProblemsAfter("",
                    "protocol_driver_options { name: 'new' client_settings { "
                    "name: 'grpc.x' int64_value: 1 } server_settings { name: "
                    "'grpc.y' string_value: 'z' } }"),
      ::testing::IsEmpty());
}

TEST(ValidateDrivers, AcceptsAsManyStreamsAsTheServerLetsIn) {
  EXPECT_THAT(ProblemsAfter("",
                            "protocol_driver_options { name: "
                            "'default_protocol_driver_options' protocol_name: "
                            "'grpc_stream' client_settings { name: 'streams' "
                            "int64_value: 4 } server_settings { name: "
                            "'grpc.max_concurrent_streams' int64_value: 4 } }"),
              ::testing::IsEmpty());
}

// The calls of an RPC that streams are beside the streams of other RPCs.
std::vector<Problem> ProblemsWithPlacesFor(int streams,
                                           const std::string& query,
                                           const std::string& rpcs) {
  return ProblemsAfter(
      "server: 'server' fanout_filter: 'random'\n  }",
      absl::Substitute(
          "server: 'server' $0 } $1 protocol_driver_options { name: "
          "'default_protocol_driver_options' protocol_name: 'grpc_stream' "
          "client_settings { name: 'streams' int64_value: 4 } server_settings "
          "{ name: 'grpc.max_concurrent_streams' int64_value: $2 } }",
          query, rpcs, streams));
}

TEST(ValidateDrivers, StreamingRpcsNeedAPlaceBesideTheStreams) {
  const std::string flow =
      "rpc_descriptions { name: 'flow' client: 'client' server: 'server' "
      "stream {} } action_lists { name: 'flow' }";
  const auto problems = ProblemsWithPlacesFor(4, "", flow);
  ASSERT_THAT(problems, ::testing::SizeIs(1));
  EXPECT_EQ(problems[0].path, "tests[0].rpc_descriptions[\"flow\"].client[0]");
  EXPECT_THAT(problems[0].message,
              ::testing::HasSubstr("raise the limit above \"streams\""));
  EXPECT_THAT(ProblemsWithPlacesFor(5, "", flow), ::testing::IsEmpty());
  EXPECT_THAT(ProblemsWithPlacesFor(4, "stream {}", ""), ::testing::IsEmpty())
      << "no other RPC opens streams that stay";
}

TEST(ValidateDrivers, AcceptsAliases) {
  EXPECT_THAT(ProblemsAfter("",
                            "default_protocol: 'new' protocol_driver_options { "
                            "name: 'new' protocol_name: 'fast' }"),
              ::testing::IsEmpty());
}

// The options that all services use have the setting, and no protocol.
TEST(ValidateDrivers, AcceptsADecoratorThatIsSetUpElsewhere) {
  EXPECT_THAT(
      ProblemsAfter("",
                    "default_protocol: 'double_barrel' "
                    "protocol_driver_options { name: "
                    "'default_protocol_driver_options' server_settings { name: "
                    "'next_protocol_driver' string_value: 'grpc' } }"),
      ::testing::IsEmpty());
}

TEST(ValidateDrivers, DecoratedDriversTakeTheirSettingsFromTheSameOptions) {
  const std::string options = R"(
    protocol_driver_options {
      name: 'default_protocol_driver_options'
      protocol_name: 'double_barrel'
      server_settings {
        name: 'next_protocol_driver' string_value: 'composable_rpc_counter'
      }
      server_settings { name: 'driver_under_test' string_value: 'grpc' }
      server_settings { name: 'server_type' string_value: 'handoff' }
      client_settings { name: 'client_type' string_value: '$0' }
    })";
  EXPECT_THAT(ProblemsAfter("", absl::Substitute(options, "callback")),
              ::testing::IsEmpty());
  const auto problems = ProblemsAfter("", absl::Substitute(options, "fax"));
  ASSERT_THAT(problems, ::testing::SizeIs(1));
  EXPECT_THAT(problems[0].message, ::testing::HasSubstr("\"fax\""));
}

TEST(ValidateDrivers, FindsTwoProblemsOfTheSameOptions) {
  EXPECT_THAT(
      ProblemsAfter("",
                    "protocol_driver_options { name: 'new' ip_version: 5 "
                    "protocol_name: 'new' }"),
      ::testing::SizeIs(2));
}

TEST(ValidateDrivers, AcceptsDecoratedClientsOfPlainServers) {
  EXPECT_THAT(
      ProblemsAfter("name: 'client' count: 2",
                    "name: 'client' count: 2 protocol_driver_options_name: "
                    "'two' } protocol_driver_options { name: 'two' "
                    "protocol_name: 'double_barrel' server_settings { name: "
                    "'next_protocol_driver' string_value: 'fast' }"),
      ::testing::IsEmpty());
}

}  // namespace
}  // namespace distbench::config
