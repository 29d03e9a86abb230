// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/testing/validation_cases.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

class BadRpc : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadRpc, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rules, BadRpc,
    ::testing::Values(
        ValidationCase{"NoClient", "",
                       "rpc_descriptions { name: 'new' server: 'server' } "
                       "action_lists { name: 'new' }",
                       "rpc_descriptions[\"new\"].client", "is missing"},
        ValidationCase{
            "UnknownClient", "",
            "rpc_descriptions { name: 'new' client: 'clint' server: 'server' } "
            "action_lists { name: 'new' }",
            "rpc_descriptions[\"new\"].client[0]",
            "no service is named \"clint\"; did you mean \"client\"?"},
        ValidationCase{
            "RepeatedClient", "",
            "rpc_descriptions { name: 'new' client: ['client', 'client'] "
            "server: 'server' } action_lists { name: 'new' }",
            "rpc_descriptions[\"new\"].client[1]",
            "\"client\" is listed more than once"},
        ValidationCase{"NoServer", "",
                       "rpc_descriptions { name: 'new' client: 'client' } "
                       "action_lists { name: 'new' }",
                       "rpc_descriptions[\"new\"].server",
                       "is missing; name the service"},
        ValidationCase{"UnknownServer", "",
                       "rpc_descriptions { name: 'new' client: 'client' "
                       "server: 'xyz' } action_lists { name: 'new' }",
                       "rpc_descriptions[\"new\"].server",
                       "no service is named \"xyz\"; must be one of "
                       "\"client\", \"server\", \"grid\""},
        ValidationCase{"NoHandler", "",
                       "rpc_descriptions { name: 'new' client: 'client' "
                       "server: 'server' }",
                       "rpc_descriptions[\"new\"]",
                       "no action list is named \"new\" to handle this RPC; "
                       "add action_lists { name: \"new\" }"},
        ValidationCase{
            "UnknownRequestPayload", "",
            "rpc_descriptions { name: 'new' client: 'client' server: 'server' "
            "request_payload_name: 'smal' } action_lists { name: 'new' }",
            "rpc_descriptions[\"new\"].request_payload_name",
            "no payload_descriptions entry is named \"smal\"; did you mean "
            "\"small\"?"},
        ValidationCase{
            "UnknownResponsePayload", "",
            "rpc_descriptions { name: 'new' client: 'client' server: 'server' "
            "response_payload_name: 'x' } action_lists { name: 'new' }",
            "rpc_descriptions[\"new\"].response_payload_name",
            "must be one of \"small\", \"varied\""},
        ValidationCase{
            "UnknownJointDistribution", "",
            "rpc_descriptions { name: 'new' client: 'client' server: 'server' "
            "distribution_config_name: 'sizes' } action_lists { name: 'new' }",
            "rpc_descriptions[\"new\"].distribution_config_name",
            "no distribution_config entry is named \"sizes\"; must be "
            "\"joint\""},
        ValidationCase{
            "UnknownFanout", "",
            "rpc_descriptions { name: 'new' client: 'client' server: 'server' "
            "fanout_filter: 'al' } action_lists { name: 'new' }",
            "rpc_descriptions[\"new\"].fanout_filter", "did you mean \"all\"?"},
        ValidationCase{
            "FanoutProbabilitiesDoNotSumToOne", "",
            "rpc_descriptions { name: 'new' client: 'client' server: 'server' "
            "fanout_filter: 'stochastic{0.5:1,0.4:2}' } action_lists { name: "
            "'new' }",
            "rpc_descriptions[\"new\"].fanout_filter",
            "sum to 0.9; they must sum to 1"},
        ValidationCase{
            "AxisThatTheServiceLacks", "",
            "rpc_descriptions { name: 'new' client: 'grid' server: 'grid' "
            "fanout_filter: 'ring_z' } action_lists { name: 'new' }",
            "rpc_descriptions[\"new\"].fanout_filter",
            "service \"grid\" has no axis z; give it z_size"},
        ValidationCase{
            "AxisThatTheServerLacks", "",
            "rpc_descriptions { name: 'new' client: 'grid' server: 'server' "
            "fanout_filter: 'same_xy' } action_lists { name: 'new' }",
            "rpc_descriptions[\"new\"].fanout_filter",
            "service \"server\" has no axis y"},
        ValidationCase{
            "AxisThatTheClientLacks", "",
            "rpc_descriptions { name: 'new' client: 'client' server: 'grid' "
            "fanout_filter: 'linear_y{1}' } action_lists { name: 'new' }",
            "rpc_descriptions[\"new\"].fanout_filter",
            "service \"client\" has no axis y"},
        ValidationCase{
            "MoreTargetsThanInstances", "",
            "rpc_descriptions { name: 'new' client: 'client' server: 'server' "
            "fanout_filter: 'stochastic{0.7:1,0.3:4}' } action_lists { name: "
            "'new' }",
            "rpc_descriptions[\"new\"].fanout_filter",
            "there are not 4 distinct targets; service \"server\" offers 3"},
        ValidationCase{
            "MoreTargetsThanPeers", "",
            "rpc_descriptions { name: 'new' client: 'server' server: 'server' "
            "fanout_filter: 'stochastic{1:3}' } action_lists { name: 'new' }",
            "rpc_descriptions[\"new\"].fanout_filter",
            "service \"server\" offers 2"},
        ValidationCase{
            "NegativeTracingInterval", "",
            "rpc_descriptions { name: 'new' client: 'client' server: 'server' "
            "tracing_interval: -1 } action_lists { name: 'new' }",
            "rpc_descriptions[\"new\"].tracing_interval", "-1 is out of range"},
        ValidationCase{
            "NoTimeForAnAnswer", "",
            "rpc_descriptions { name: 'new' client: 'client' server: 'server' "
            "deadline_us: 0 } action_lists { name: 'new' }",
            "rpc_descriptions[\"new\"].deadline_us",
            "0 is out of range; must be from 1"},
        ValidationCase{
            "UnknownChannel", "",
            "rpc_descriptions { name: 'new' client: 'client' server: 'server' "
            "multi_server_channel_name: 'a' } action_lists { name: 'new' }",
            "rpc_descriptions[\"new\"].multi_server_channel_name",
            "no multi-server channel of service \"server\" is named \"a\"; "
            "there are none"}),
    [](const auto& info) { return info.param.rule; });

TEST(ValidateRpcs, AcceptsStochasticFanoutToAll) {
  EXPECT_THAT(
      ProblemsAfter("",
                    "rpc_descriptions { name: 'new' client: 'client' server: "
                    "'server' fanout_filter: 'stochastic{0.5:3,0.5:0}' } "
                    "action_lists { name: 'new' }"),
      ::testing::IsEmpty());
}

TEST(ValidateRpcs, AcceptsAxesOfBothSides) {
  EXPECT_THAT(
      ProblemsAfter(
          "",
          "rpc_descriptions { name: 'new' client: 'client' server: 'grid' "
          "fanout_filter: 'same_x' } action_lists { name: 'new' }"),
      ::testing::IsEmpty());
}

TEST(ValidateRpcs, AcceptsPayloadsBesidesADistribution) {
  EXPECT_THAT(
      ProblemsAfter(
          "",
          "rpc_descriptions { name: 'new' client: 'client' server: 'server' "
          "request_payload_name: 'small' distribution_config_name: 'joint' } "
          "action_lists { name: 'new' }"),
      ::testing::IsEmpty());
}

}  // namespace
}  // namespace distbench::config
