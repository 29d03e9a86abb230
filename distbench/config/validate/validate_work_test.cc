// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/testing/validation_cases.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
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

// An activity_configs entry called "a".
std::string Activity(const std::string& function, const std::string& settings) {
  return "activity_configs { name: 'a' activity_settings { name: "
         "'activity_func' string_value: '" +
         function + "' } " + settings + " }";
}

std::string Set(const std::string& name, int64_t value) {
  return "activity_settings { name: '" + name +
         "' int64_value: " + std::to_string(value) + " } ";
}

std::string Set(const std::string& name, const std::string& value) {
  return "activity_settings { name: '" + name + "' string_value: '" + value +
         "' } ";
}

// A setting, and its problem.
struct RuleCase {
  const char* rule;
  std::string activity;
  const char* setting;
  const char* message;
};

class BadActivitySettings : public ::testing::TestWithParam<RuleCase> {};

TEST_P(BadActivitySettings, IsTheOnlyProblem) {
  const std::vector<Problem> problems = ProblemsAfter("", GetParam().activity);
  ASSERT_THAT(problems, ::testing::SizeIs(1));
  EXPECT_THAT(
      problems[0].path,
      ::testing::EndsWith("activity_configs[\"a\"].activity_settings[\"" +
                          std::string(GetParam().setting) + "\"]"));
  EXPECT_THAT(problems[0].message, ::testing::HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BadActivitySettings,
    ::testing::Values(
        RuleCase{
            "LevelOfSnappy",
            Activity("Compress", Set("algorithm", "snappy") + Set("level", 3)),
            "level", "snappy has no levels"},
        RuleCase{
            "LevelOfZlib",
            Activity("Decompress", Set("algorithm", "zlib") + Set("level", 10)),
            "level", "zlib's levels are 1 to 9"},
        RuleCase{"MoreThanTheCorpus",
                 Activity("Compress",
                          Set("bytes", 1001) + Set("corpus_bytes", 1000)),
                 "bytes",
                 "1001 is more than corpus_bytes, 1000; make it smaller"},
        RuleCase{"MoreThanTheGraph",
                 Activity("PageRank",
                          Set("nodes_per_iteration", 11) + Set("nodes", 10)),
                 "nodes_per_iteration",
                 "11 is more than nodes, 10; make it smaller, or nodes "
                 "larger, or 0 for all"},
        RuleCase{
            "TooManyEdges",
            Activity("PageRank", Set("nodes", 100'000'000) + Set("degree", 41)),
            "nodes", "is more than 4000000000 edges"},
        RuleCase{"NothingToExtract",
                 Activity("FeatureExtract",
                          Set("hash_lookups", 0) + Set("tree_walks", 0) +
                              Set("bitset_intersections", 0) +
                              Set("embedding_rows_gathered", 0) +
                              Set("function_calls", 0)),
                 "hash_lookups", "raise at least one"},
        RuleCase{"HugeEmbeddings",
                 Activity("FeatureExtract", Set("embedding_rows", 100'000'000) +
                                                Set("embedding_dimension", 64)),
                 "embedding_rows", "is more than 1000000000"},
        RuleCase{"HugeStories",
                 Activity("Serialize",
                          Set("stories", 1'000'000) + Set("objects", 100)),
                 "stories", "is more than 10000000"},
        RuleCase{"HugeModel",
                 Activity("Infer", Set("layers", 3) + Set("width", 30'000)),
                 "width",
                 "squared times layers is more than 2147483648 weights"},
        RuleCase{"RelativeDirectory",
                 Activity("Disk", Set("directory", "data")), "directory",
                 "is not an absolute path"},
        RuleCase{"PartsOfPages", Activity("Disk", Set("block_bytes", 5000)),
                 "block_bytes", "is not a multiple of 4096"},
        RuleCase{"BlocksLargerThanTheData",
                 Activity("Disk",
                          Set("block_bytes", 8192) + Set("data_bytes", 4096)),
                 "block_bytes", "is more than data_bytes, 4096"},
        RuleCase{"NothingToSync", Activity("Disk", Set("sync_every", 3)),
                 "sync_every",
                 "has no effect without write_percent; remove it, or raise "
                 "write_percent"},
        RuleCase{"SpreadOfUniformAccess",
                 Activity("FeatureQuery", Set("spread_percent", 3)),
                 "spread_percent", "has no effect, because access is"},
        RuleCase{"SkewOfNormalAccess",
                 Activity("Storage", Set("skew_thousandths", 3)),
                 "skew_thousandths", "or use \"zipf\""},
        RuleCase{"MemoryThatIsNotRead",
                 Activity("Storage", Set("memory_bytes", 1 << 20)),
                 "memory_percent", "set both, or none"},
        RuleCase{"NoMemoryToRead",
                 Activity("Storage", Set("memory_percent", 10)), "memory_bytes",
                 "set both, or none"},
        RuleCase{"NoMemoryToWrite",
                 Activity("Storage", Set("memory_write_percent", 10)),
                 "memory_write_percent",
                 "has no effect without memory_percent and memory_bytes; "
                 "remove it, or raise memory_percent and memory_bytes"},
        RuleCase{"LogLargerThanItsFile",
                 Activity("Storage",
                          Set("log_bytes", 10) + Set("log_capacity_bytes", 9)),
                 "log_bytes", "is more than log_capacity_bytes"},
        // The message would exceed 2 GiB.
        RuleCase{"StoriesLargerThanAMessage",
                 Activity("Deserialize", Set("stories", 1000) +
                                             Set("objects", 1000) +
                                             Set("actions", 30)),
                 "stories", "is more than 10000000"}),
    [](const auto& info) { return info.param.rule; });

TEST(ActivitySettings, NameAllProblemsOfRules) {
  const std::vector<Problem> problems =
      ProblemsAfter("", Activity("Storage", Set("file_bytes", 40'000'000 + 1) +
                                                Set("memory_bytes", 4096) +
                                                Set("log_bytes", 20'000'000)));
  std::vector<std::string> messages;
  for (const Problem& problem : problems) messages.push_back(problem.message);
  EXPECT_THAT(
      messages,
      ::testing::ElementsAre(
          "40000001 is not a multiple of 4096; round it",
          "40000001 is more than file_set_bytes, 16777216; make it smaller, or "
          "file_set_bytes larger",
          "40000001 is more than memory_bytes, 4096; make it smaller, or "
          "memory_bytes larger",
          "20000000 is more than log_capacity_bytes, 16777216; make it "
          "smaller, or log_capacity_bytes larger",
          "is 0, but memory_bytes is not; set both, or none"));
}

class BadPool : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadPool, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

#define A_WAIT                                                        \
  "activity_settings { name: 'activity_func' string_value: 'Wait' } " \
  "activity_settings { name: 'mean_us' int64_value: 5 } "
#define SOME_WORK \
  "activity_settings { name: 'activity_func' string_value: 'ConsumeCpu' } "

INSTANTIATE_TEST_SUITE_P(
    Rules, BadPool,
    ::testing::Values(
        ValidationCase{"UnknownPool", "",
                       "activity_pools { name: 'disk' size: 1 } "
                       "activity_configs { name: 'a' pool_name: 'disk' " A_WAIT
                       "} activity_configs { name: 'b' pool_name: "
                       "'dsik' " A_WAIT "}",
                       "activity_configs[\"b\"].pool_name",
                       "no activity_pools entry is named \"dsik\"; did you "
                       "mean \"disk\"?"},
        ValidationCase{"RepeatedPool", "",
                       "activity_pools { name: 'disk' size: 1 } "
                       "activity_pools { name: 'disk' size: 2 } "
                       "activity_configs { name: 'a' pool_name: 'disk' " A_WAIT
                       "}",
                       "activity_pools[1].name",
                       "\"disk\" is the name of activity_pools[0] as well"},
        ValidationCase{"NoPoolName", "", "activity_pools { size: 1 }",
                       "activity_pools[0].name", "is missing"},
        ValidationCase{"NoPoolSize", "",
                       "activity_pools { name: 'disk' } "
                       "activity_configs { name: 'a' pool_name: 'disk' " A_WAIT
                       "}",
                       "activity_pools[\"disk\"].size", "is missing"},
        ValidationCase{"EmptyPool", "",
                       "activity_pools { name: 'disk' size: 0 } "
                       "activity_configs { name: 'a' pool_name: 'disk' " A_WAIT
                       "}",
                       "activity_pools[\"disk\"].size",
                       "0 is out of range; must be from 1 to 1024"},
        ValidationCase{"HugePool", "",
                       "activity_pools { name: 'disk' size: 1025 } "
                       "activity_configs { name: 'a' pool_name: 'disk' " A_WAIT
                       "}",
                       "activity_pools[\"disk\"].size", "1025 is out of range"},
        ValidationCase{"UnusedPool", "",
                       "activity_pools { name: 'disk' size: 1 }",
                       "activity_pools[\"disk\"]",
                       "has no effect, as no activity runs in it"},
        ValidationCase{
            "MoreThreadsThanAllowed", "",
            "overload_limits { max_threads: 50 } "
            "activity_pools { name: 'cores' size: 60 } "
            "activity_pools { name: 'disk' size: 70 } "
            "activity_configs { name: 'a' pool_name: 'cores' " SOME_WORK
            "} activity_configs { name: 'b' pool_name: "
            "'disk' " A_WAIT "}",
            "activity_pools",
            "have 60 threads together, but overload_limits."
            "max_threads allows a node 50"},
        ValidationCase{"SigmaWithoutEffect", "",
                       "activity_configs { name: 'a' activity_settings { name: "
                       "'sigma_thousandths' int64_value: 5 } " A_WAIT "}",
                       "activity_configs[\"a\"].activity_settings["
                       "\"sigma_thousandths\"]",
                       "has no effect, because distribution is \"fixed\""},
        ValidationCase{"UnknownDistribution", "",
                       "activity_configs { name: 'a' activity_settings { name: "
                       "'distribution' string_value: 'normal' } " A_WAIT "}",
                       "activity_configs[\"a\"].activity_settings["
                       "\"distribution\"]",
                       "must be one of \"fixed\", \"exponential\", "
                       "\"lognormal\""}),
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
        ValidationCase{"NegativeDefault", "",
                       "rpc_replay_traces { name: 't' client: 'client' server: "
                       "'server' defaults { request_size: -1 } records { "
                       "request_size: 5 } records {} }",
                       "rpc_replay_traces[\"t\"].records[1].request_size",
                       "-1 is out of range"},
        ValidationCase{"UnknownMode", "",
                       "rpc_replay_traces { name: 't' client: 'client' server: "
                       "'server' records { timing_mode: UNKNOWN } }",
                       "rpc_replay_traces[\"t\"].records[0].timing_mode",
                       "UNKNOWN is not a mode"},
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

// What counts is what records come to.
TEST(ValidateWork, AcceptsDefaultsThatNoRecordHas) {
  EXPECT_THAT(
      ProblemsAfter("",
                    "rpc_replay_traces { name: 't' client: 'client' server: "
                    "'server' defaults { request_size: -1 } records { "
                    "request_size: 5 } }"),
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
}  // namespace distbench::config
