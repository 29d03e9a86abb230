#include "distbench/config/validation_cases.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

class BadActivity : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadActivity, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rules, BadActivity,
    ::testing::Values(
        ValidationCase{
            "NoFunction", "", "activity_configs { name: 'new'  }",
            "activity_configs[\"new\"].activity_settings[\"activity_func\"]",
            "is missing; must be one of \"ConsumeCpu\""},
        ValidationCase{
            "UnknownFunction", "",
            "activity_configs { name: 'new' activity_settings { name: "
            "'activity_func' string_value: 'ConsumeCPUs' } }",
            "activity_configs[\"new\"].activity_settings[\"activity_func\"]",
            "no activity is named \"ConsumeCPUs\"; did you mean "
            "\"ConsumeCpu\"?"},
        ValidationCase{"UnknownSetting", "",
                       "activity_configs { name: 'new' activity_settings { "
                       "name: 'activity_func' string_value: 'ConsumeCpu' "
                       "}activity_settings { name: 'size' int64_value: 5 } }",
                       "activity_configs[\"new\"].activity_settings[\"size\"]",
                       "activity \"ConsumeCpu\" has no setting \"size\" here"},
        ValidationCase{
            "SettingOutOfRange", "",
            "activity_configs { name: 'new' activity_settings { name: "
            "'activity_func' string_value: 'PolluteDataCache' "
            "}activity_settings { name: 'array_size' int64_value: 0 } }",
            "activity_configs[\"new\"].activity_settings[\"array_size\"]",
            "0 is out of range"},
        ValidationCase{"NoDuration", "",
                       "activity_configs { name: 'new' activity_settings { "
                       "name: 'activity_func' string_value: 'SleepFor' } }",
                       "activity_configs[\"new\"].activity_settings",
                       "setting \"duration_us\" is missing; activity "
                       "\"SleepFor\" needs it"},
        ValidationCase{
            "ZeroDuration", "",
            "activity_configs { name: 'new' activity_settings { name: "
            "'activity_func' string_value: 'SpinFor' }activity_settings { "
            "name: 'duration_us' int64_value: 0 } }",
            "activity_configs[\"new\"].activity_settings[\"duration_us\"]",
            "0 is out of range"},
        ValidationCase{
            "RepeatedSetting", "",
            "activity_configs { name: 'new' activity_settings { name: "
            "'activity_func' string_value: 'ConsumeCpu' }activity_settings { "
            "name: 'activity_func' string_value: 'SleepFor' } }",
            "activity_configs[\"new\"].activity_settings[1]",
            "\"activity_func\" is given more than once"}),
    [](const auto& info) { return info.param.rule; });

class BadReplay : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadReplay, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rules, BadReplay,
    ::testing::Values(
        ValidationCase{"NameOfAnRpc", "",
                       "rpc_replay_traces { name: 'query' client: 'client' "
                       "server: 'server' records {} }",
                       "rpc_replay_traces[\"query\"].name",
                       "is the name of rpc_descriptions[0] as well"},
        ValidationCase{
            "NoClient", "",
            "rpc_replay_traces { name: 't' server: 'server' records {} }",
            "rpc_replay_traces[\"t\"].client", "is missing"},
        ValidationCase{"UnknownServer", "",
                       "rpc_replay_traces { name: 't' client: 'client' server: "
                       "'sever' records {} }",
                       "rpc_replay_traces[\"t\"].server",
                       "did you mean \"server\"?"},
        ValidationCase{"NoRecords", "",
                       "rpc_replay_traces { name: 't' client: 'client' server: "
                       "'server'  }",
                       "rpc_replay_traces[\"t\"].records", "there are none"},
        ValidationCase{"ServerInstanceEqualsCount", "",
                       "rpc_replay_traces { name: 't' client: 'client' server: "
                       "'server' records { server_instance: 3 } }",
                       "rpc_replay_traces[\"t\"].records[0].server_instance",
                       "3 is out of range; must be from 0 to 2"},
        ValidationCase{"ServerInstanceOfDefaults", "",
                       "rpc_replay_traces { name: 't' client: 'client' server: "
                       "'server' defaults { server_instance: -1 } records {} }",
                       "rpc_replay_traces[\"t\"].records[0].server_instance",
                       "-1 is out of range"},
        ValidationCase{"ClientInstanceEqualsCount", "",
                       "rpc_replay_traces { name: 't' client: 'client' server: "
                       "'server' records { client_instance: 2 } }",
                       "rpc_replay_traces[\"t\"].records[0].client_instance",
                       "2 is out of range; must be from 0 to 1"},
        ValidationCase{
            "UnknownChannel", "",
            "rpc_replay_traces { name: 't' client: 'client' server: 'server' "
            "multiserver_channel_names: 'a' records {} }",
            "rpc_replay_traces[\"t\"].multiserver_channel_names[0]",
            "no multi-server channel of service \"server\" is named \"a\""},
        ValidationCase{
            "NoChannels", "",
            "rpc_replay_traces { name: 't' client: 'client' server: 'server' "
            "records { multi_server_channel_name_index: 0 } }",
            "rpc_replay_traces[\"t\"].records[0].multi_server_channel_name_"
            "index",
            "the trace has no multiserver_channel_names"},
        ValidationCase{"NegativeTime", "",
                       "rpc_replay_traces { name: 't' client: 'client' server: "
                       "'server' records { timing_ns: -1 } }",
                       "rpc_replay_traces[\"t\"].records[0].timing_ns",
                       "-1 is out of range"},
        ValidationCase{"NegativeRequest", "",
                       "rpc_replay_traces { name: 't' client: 'client' server: "
                       "'server' records { request_size: -1 } }",
                       "rpc_replay_traces[\"t\"].records[0].request_size",
                       "-1 is out of range"},
        ValidationCase{"NegativeResponse", "",
                       "rpc_replay_traces { name: 't' client: 'client' server: "
                       "'server' records { response_size: -1 } }",
                       "rpc_replay_traces[\"t\"].records[0].response_size",
                       "-1 is out of range"},
        ValidationCase{
            "NegativeProcessingTime", "",
            "rpc_replay_traces { name: 't' client: 'client' server: 'server' "
            "records { server_processing_time_ns: -1 } }",
            "rpc_replay_traces[\"t\"].records[0].server_processing_time_ns",
            "-1 is out of range"},
        ValidationCase{"UnknownMode", "",
                       "rpc_replay_traces { name: 't' client: 'client' server: "
                       "'server' records { timing_mode: UNKNOWN } }",
                       "rpc_replay_traces[\"t\"].records[0].timing_mode",
                       "UNKNOWN is no mode"},
        ValidationCase{
            "DistancesWithoutEffect", "",
            "rpc_replay_traces { name: 't' client: 'client' server: 'server' "
            "records {} records { prior_rpc_distances: 0 } }",
            "rpc_replay_traces[\"t\"].records[1].prior_rpc_distances",
            "has no effect with this timing_mode"},
        ValidationCase{
            "DistanceBeyondTheFirstRecord", "",
            "rpc_replay_traces { name: 't' client: 'client' server: 'server' "
            "records {} records { timing_mode: RELATIVE_TO_PRIOR_RPC_END "
            "prior_rpc_distances: [0, 1] } }",
            "rpc_replay_traces[\"t\"].records[1].prior_rpc_distances",
            "must be from 0 to 0"},
        ValidationCase{
            "NegativeDistance", "",
            "rpc_replay_traces { name: 't' client: 'client' server: 'server' "
            "records {} records { timing_mode: RELATIVE_TO_PRIOR_RPC_END "
            "prior_rpc_distances: -1 } }",
            "rpc_replay_traces[\"t\"].records[1].prior_rpc_distances",
            "must be from 0 to 0"},
        ValidationCase{
            "DistanceOfTheFirstRecord", "",
            "rpc_replay_traces { name: 't' client: 'client' server: 'server' "
            "records { timing_mode: RELATIVE_TO_PRIOR_RPC_END "
            "prior_rpc_distances: 0 } }",
            "rpc_replay_traces[\"t\"].records[0].prior_rpc_distances",
            "there is no record before the first one"},
        ValidationCase{
            "WaitsForAnotherClient", "",
            "rpc_replay_traces { name: 't' client: 'client' server: 'server' "
            "records { client_instance: 0 } records { client_instance: 1 "
            "timing_mode: RELATIVE_TO_PRIOR_RPC_START } }",
            "rpc_replay_traces[\"t\"].records[1]",
            "waits for records[0], which only client instance 0 sends"}),
    [](const auto& info) { return info.param.rule; });

TEST(ValidateWork, AcceptsActivities) {
  EXPECT_THAT(ProblemsAfter(
                  "",
                  "activity_configs { name: 'new' activity_settings { name: "
                  "'activity_func' string_value: 'SleepFor' }activity_settings "
                  "{ name: 'duration_us' int64_value: 5 } }"),
              ::testing::IsEmpty());
}

TEST(ValidateWork, AcceptsChainsOfRecords) {
  EXPECT_THAT(ProblemsAfter(
                  "",
                  "rpc_replay_traces { name: 't' client: 'client' server: "
                  "'server' defaults { timing_mode: RELATIVE_TO_PRIOR_RPC_END "
                  "} records {} records {} records { client_instance: 1 } }"),
              ::testing::IsEmpty());
}

}  // namespace
}  // namespace distbench
