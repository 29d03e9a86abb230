// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "absl/strings/str_cat.h"
#include "distbench/config/testing/validation_cases.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

class BadStream : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadStream, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

#define RPC_WITH(stream)                                                     \
  "default_protocol: 'loopback' "                                            \
  "rpc_descriptions { name: 'new' client: 'client' server: 'server' " stream \
  " } action_lists { name: 'new' }"

INSTANTIATE_TEST_SUITE_P(
    Rules, BadStream,
    ::testing::Values(
        ValidationCase{"NoMessages", "",
                       RPC_WITH("stream { client_messages: 0 }"),
                       "rpc_descriptions[\"new\"].stream.client_messages",
                       "0 is out of range"},
        ValidationCase{"TooManyMessages", "",
                       RPC_WITH("stream { server_messages: 1000001 }"),
                       "rpc_descriptions[\"new\"].stream.server_messages",
                       "1000001 is out of range"},
        ValidationCase{"CountAndDistribution", "",
                       RPC_WITH("stream { client_messages: 2 "
                                "client_messages_distribution: 'sizes' }"),
                       "rpc_descriptions[\"new\"].stream",
                       "has both client_messages and "
                       "client_messages_distribution; give one"},
        ValidationCase{
            "UnknownDistribution", "",
            RPC_WITH("stream { server_interval_distribution: 'delay' }"),
            "rpc_descriptions[\"new\"].stream.server_interval_distribution",
            "no delay_distribution_configs entry is named \"delay\""},
        ValidationCase{"IntervalWithoutUnit", "",
                       RPC_WITH("stream { client_interval: '20' }"),
                       "rpc_descriptions[\"new\"].stream.client_interval",
                       "\"20\""},
        ValidationCase{"UnknownStart", "",
                       RPC_WITH("stream { response_starts: 'soon' }"),
                       "rpc_descriptions[\"new\"].stream.response_starts",
                       "must be \"on_first_request\", \"on_last_request\" or "
                       "\"echo\""},
        ValidationCase{"EchoWithServerMessages", "",
                       RPC_WITH("stream { response_starts: 'echo' "
                                "server_messages: 2 }"),
                       "rpc_descriptions[\"new\"].stream",
                       "an echo answers each message"},
        ValidationCase{"JointSizes", "",
                       RPC_WITH("distribution_config_name: 'joint' stream {}"),
                       "rpc_descriptions[\"new\"].distribution_config_name",
                       "does not go together with stream"}),
    [](const auto& info) { return std::string(info.param.rule); });

TEST(StreamValidationTest, DrawnCountsHaveTheSameLimit) {
  ExpectOneProblem(
      {"LargeDrawnCount", "",
       RPC_WITH(
           "stream { client_messages_distribution: 'many' }") " size_"
                                                              "distribution_"
                                                              "configs { name: "
                                                              "'many' "
                                                              "pmf_points { "
                                                              "pmf: 1 "
                                                              "data_points { "
                                                              "exact: 1000001 "
                                                              "} } }",
       "rpc_descriptions[\"new\"].stream"
       ".client_messages_distribution",
       "1000001 is out of range"});
}

TEST(StreamValidationTest, OtherDriversRefuseStreams) {
  ExpectOneProblem(
      {"Driver", "",
       "default_protocol: 'tcp' rpc_descriptions { name: 'new' "
       "client: 'client' server: 'client' stream {} } "
       "action_lists { name: 'new' }",
       "rpc_descriptions[\"new\"].stream",
       "driver \"tcp\" of service \"client\" does not stream; these drivers "
       "do: \"grpc\", \"grpc_stream\", \"loopback\""});
}

struct GrpcCase {
  const char* setting;
  const char* services;  // client and server
  const char* problem;
};

class GrpcStreamsTest : public ::testing::TestWithParam<GrpcCase> {};

TEST_P(GrpcStreamsTest, NeedTheWorkersQueue) {
  const std::string config = absl::StrCat(
      "default_protocol: 'own' protocol_driver_options { name: 'own' "
      "protocol_name: 'grpc' ",
      GetParam().setting, " } rpc_descriptions { name: 'new' ",
      GetParam().services, " stream {} } action_lists { name: 'new' }");
  ExpectOneProblem({"Type", "", config.c_str(),
                    "rpc_descriptions[\"new\"].stream", GetParam().problem});
}

constexpr char kCallbackClient[] =
    "client_settings { name: 'client_type' string_value: 'callback' }";
constexpr char kHandoffServer[] =
    "server_settings { name: 'server_type' string_value: 'handoff' }";

INSTANTIATE_TEST_SUITE_P(
    Types, GrpcStreamsTest,
    ::testing::Values(
        GrpcCase{kCallbackClient, "client: 'client' server: 'server'",
                 "driver \"grpc\" of service \"client\" does not stream with "
                 "client_type \"callback\"; set it to \"polling\""},
        GrpcCase{kHandoffServer, "client: 'client' server: 'server'",
                 "driver \"grpc\" of service \"server\" does not stream with "
                 "server_type \"handoff\"; set it to \"inline\""},
        GrpcCase{kHandoffServer, "client: 'server' server: 'server'",
                 "driver \"grpc\" of service \"server\" does not stream with "
                 "server_type \"handoff\"; set it to \"inline\""}));

}  // namespace
}  // namespace distbench::config
