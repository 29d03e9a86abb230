// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "distbench/config/testing/validation_cases.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

class BadTestSettings : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadTestSettings, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rules, BadTestSettings,
    ::testing::Values(
        ValidationCase{
            "TimeoutIsNoNumber", "",
            "attributes { key: \"test_timeout\" value: \"30s\" }",
            "attributes[\"test_timeout\"]",
            "\"30s\" is not a timeout; must be a whole number of seconds"},
        ValidationCase{"TimeoutIsZero", "",
                       "attributes { key: \"test_timeout\" value: \"0\" }",
                       "attributes[\"test_timeout\"]",
                       "must be a whole number of seconds"},
        ValidationCase{"NameWithEscape", "", R"(name: "ctl\001\033[31mred")",
                       "name",
                       R"("ctl\001\033[31mred" has control characters; )"
                       "remove them"},
        ValidationCase{"NameOfTwoLines", "", R"(name: "line\nfeed")", "name",
                       R"("line\nfeed" has control characters)"},
        ValidationCase{"AttributeOfTwoLines", "",
                       R"(attributes { key: "line\nfeed" value: "" })",
                       R"(attributes["line\nfeed"])",
                       R"("line\nfeed" has control characters)"},
        ValidationCase{"NoThreads", "", "overload_limits { max_threads: 0 }",
                       "overload_limits.max_threads",
                       "0 is out of range; must be at least 1"},
        ValidationCase{"NoPendingRpcs", "",
                       "overload_limits { max_pending_rpcs: -1 }",
                       "overload_limits.max_pending_rpcs",
                       "-1 is out of range; must be at least 1"},
        ValidationCase{"NoPendingWork", "",
                       "overload_limits { max_pending_work: 0 }",
                       "overload_limits.max_pending_work",
                       "0 is out of range; must be at least 1"},
        ValidationCase{"NoMemory", "",
                       "overload_limits { max_memory_bytes: 0 }",
                       "overload_limits.max_memory_bytes",
                       "0 is out of range; must be at least 1"},
        ValidationCase{"UnknownFactAboutHosts", "",
                       R"(requirements {
                            facts { name: "cpu_bost" string_value: "on" }
                          })",
                       R"(requirements.facts["cpu_bost"])",
                       "did you mean \"cpu_boost\"?"},
        ValidationCase{"RequirementsOfNothing", "", "requirements {}",
                       "requirements.facts", "there are none"},
        ValidationCase{"NoWorkers", "", "workers_per_instance: 0",
                       "workers_per_instance", "must be from 1 to 1024"},
        ValidationCase{"TooManyWorkers", "", "workers_per_instance: 1025",
                       "workers_per_instance", "must be from 1 to 1024"}),
    [](const auto& info) { return info.param.rule; });

const char* const kServer = "services { name: 'server' count: 3";

class BadBinding : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadBinding, IsTheOnlyProblem) {
  ValidationCase broken = GetParam();
  const std::string text =
      std::string(kServer) + " numa_binding { " + broken.new_text + " }";
  broken.new_text = text.c_str();
  ExpectOneProblem(broken);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BadBinding,
    ::testing::Values(
        ValidationCase{"NodesAreNoList", kServer, "nodes: '0-'",
                       "services[\"server\"].numa_binding.nodes",
                       "\"0-\" is neither a number"},
        ValidationCase{"CpusAreNoList", kServer, "cpus: '7-3'",
                       "services[\"server\"].numa_binding.cpus", "write 3-7"},
        ValidationCase{"CpusAreEmpty", kServer, "cpus: ''",
                       "services[\"server\"].numa_binding.cpus",
                       "is an empty list"},
        ValidationCase{"CpusAndNodes", kServer, "cpus: '1' nodes: '0'",
                       "services[\"server\"].numa_binding.cpus",
                       "excludes nodes"},
        ValidationCase{"CpusAndSpread", kServer, "cpus: '1' spread: true",
                       "services[\"server\"].numa_binding.spread",
                       "excludes cpus"},
        ValidationCase{"MemoryNodesOfLocal", kServer,
                       "memory_policy: LOCAL memory_nodes: '1'",
                       "services[\"server\"].numa_binding.memory_nodes",
                       "has no effect with memory_policy LOCAL"},
        ValidationCase{"PerNodeWithoutSpread", kServer, "instances_per_node: 2",
                       "services[\"server\"].numa_binding.instances_per_node",
                       "needs spread: true"},
        ValidationCase{"NonePerNode", kServer,
                       "spread: true instances_per_node: 0",
                       "services[\"server\"].numa_binding.instances_per_node",
                       "must be from 1 to 1024"}),
    [](const auto& info) { return info.param.rule; });

TEST(GoodBindingTest, HasNoProblem) {
  const std::string bound =
      " numa_binding { nodes: '0-1' memory_policy: INTERLEAVE memory_nodes: "
      "'1,3' spread: true instances_per_node: 2 strict: false }";
  EXPECT_TRUE(ProblemsAfter(kServer, kServer + bound).empty());
}

class BadEncoding : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadEncoding, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rules, BadEncoding,
    ::testing::Values(
        ValidationCase{"StrayByte", "", "name: 'a\\xff'", "name",
                       "is not valid text; write it in UTF-8"},
        ValidationCase{"CutShort", "", "name: '\\xe2\\x82'", "name",
                       "not valid text"},
        ValidationCase{"LongerThanNeeded", "", "name: '\\xc0\\x80'", "name",
                       "not valid text"},
        ValidationCase{"LongerThanNeededInThree", "", "name: '\\xe0\\x80\\x80'",
                       "name", "not valid text"},
        ValidationCase{"Surrogate", "", "name: '\\xed\\xa0\\x80'", "name",
                       "not valid text"},
        ValidationCase{"BeyondTheLastCodePoint", "",
                       "name: '\\xf4\\x90\\x80\\x80'", "name",
                       "not valid text"},
        ValidationCase{"BrokenTail", "", "name: '\\xe2\\x82x'", "name",
                       "not valid text"},
        ValidationCase{"InAMap", "", "attributes { key: 'k' value: '\\xff' }",
                       "attributes[0].value", "not valid text"},
        ValidationCase{"InARepeatedField", "",
                       "payload_descriptions { name: 'p' size: 1 attributes: "
                       "['a', '\\xff'] }",
                       "payload_descriptions[2].attributes[1]",
                       "not valid text"}),
    [](const auto& info) { return info.param.rule; });

class BadName : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadName, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rules, BadName,
    ::testing::Values(
        ValidationCase{"MissingActionName", "", "actions {}", "actions[3].name",
                       "is missing; give it a name"},
        ValidationCase{"RepeatedService", "",
                       "services { name: 'client' count: 1 }",
                       "services[3].name",
                       "\"client\" is the name of services[0] as well; names "
                       "must be unique"},
        ValidationCase{"RepeatedRpc", "",
                       "rpc_descriptions { name: 'query' client: 'client' "
                       "server: 'server' }",
                       "rpc_descriptions[2].name",
                       "\"query\" is the name of rpc_descriptions[0] as well"},
        ValidationCase{"RepeatedAction", "", "actions { name: 'run' }",
                       "actions[3].name",
                       "\"run\" is the name of actions[0] as well"},
        ValidationCase{"RepeatedList", "", "action_lists { name: 'query' }",
                       "action_lists[4].name",
                       "\"query\" is the name of action_lists[1] as well"},
        ValidationCase{"RepeatedPayload", "",
                       "payload_descriptions { name: 'small' size: 1 }",
                       "payload_descriptions[2].name",
                       "is the name of payload_descriptions[0] as well"},
        ValidationCase{"RepeatedOptions", "",
                       "protocol_driver_options { name: 'fast' }",
                       "protocol_driver_options[1].name",
                       "is the name of protocol_driver_options[0] as well"},
        ValidationCase{"RepeatedActivity", "",
                       "activity_configs { name: 'a' activity_settings { name: "
                       "'activity_func' string_value: 'ConsumeCpu' } } "
                       "activity_configs { name: 'a' activity_settings { name: "
                       "'activity_func' string_value: 'ConsumeCpu' } }",
                       "activity_configs[1].name",
                       "\"a\" is the name of activity_configs[0] as well"},
        ValidationCase{"RepeatedJointDistribution", "",
                       "distribution_config { name: 'joint' cdf_points { cdf: "
                       "1 value: 1 } }",
                       "distribution_config[1].name", "as well"},
        ValidationCase{"RepeatedDelayDistribution", "",
                       "delay_distribution_configs { name: 'delays' cdf_points "
                       "{ cdf: 1 value: 1 } }",
                       "delay_distribution_configs[1].name", "as well"},
        ValidationCase{"RepeatedSizeDistribution", "",
                       "size_distribution_configs { name: 'sizes' cdf_points { "
                       "cdf: 1 value: 1 } }",
                       "size_distribution_configs[1].name", "as well"},
        ValidationCase{"RepeatedReplayTrace", "",
                       "rpc_replay_traces { name: 't' client: 'client' server: "
                       "'server' records {} } rpc_replay_traces { name: 't' "
                       "client: 'client' server: 'server' records {} }",
                       "rpc_replay_traces[1].name", "as well"},
        ValidationCase{"ServiceNameWithSlash", "",
                       "services { name: 'a/b' count: 1 }", "services[3].name",
                       "use letters, digits"},
        ValidationCase{"ServiceNameWithStar", "",
                       "services { name: 'a*' count: 1 }", "services[3].name",
                       "use letters, digits"},
        ValidationCase{"NameWithNewline", "", "actions { name: 'a\\nb' }",
                       "actions[3].name", "\"a\\nb\" has control characters"}),
    [](const auto& info) { return info.param.rule; });

class BadService : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadService, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rules, BadService,
    ::testing::Values(
        ValidationCase{"NoCount", "name: 'server' count: 3", "name: 'server'",
                       "services[\"server\"].count",
                       "is missing; give the number of instances"},
        ValidationCase{"ZeroCount", "name: 'server' count: 3",
                       "name: 'server' count: 0", "services[\"server\"].count",
                       "0 is out of range"},
        ValidationCase{"NegativeCount", "name: 'server' count: 3",
                       "name: 'server' count: -1", "services[\"server\"].count",
                       "-1 is out of range; must be from 1 to 100000"},
        ValidationCase{"ZeroXSize", "name: 'server' count: 3",
                       "name: 'server' x_size: 0",
                       "services[\"server\"].x_size", "0 is out of range"},
        ValidationCase{"NegativeYSize", "x_size: 4 y_size: 3",
                       "x_size: 4 y_size: -3", "services[\"grid\"].y_size",
                       "-3 is out of range"},
        ValidationCase{"ZeroZSize", "x_size: 4 y_size: 3",
                       "x_size: 4 y_size: 3 z_size: 0",
                       "services[\"grid\"].z_size", "0 is out of range"},
        ValidationCase{"YWithoutX", "x_size: 4 y_size: 3", "y_size: 3",
                       "services[\"grid\"].y_size", "needs x_size"},
        ValidationCase{"CountIsNotTheProduct", "x_size: 4 y_size: 3",
                       "count: 11 x_size: 4 y_size: 3",
                       "services[\"grid\"].count",
                       "11 is not 12, the product of the sizes"},
        ValidationCase{"HugeSize", "",
                       "services { name: 'huge' x_size: 2147483647 }",
                       "services[\"huge\"].x_size", "must be from 1 to 100000"},
        ValidationCase{"HugeGrid", "",
                       "services { name: 'huge' x_size: 100000 y_size: "
                       "100000 z_size: 100000 }",
                       "services", "more than 100000 instances"},
        ValidationCase{"TooManyInstancesInAll", "",
                       "services { name: 'a' count: 50000 } services { name: "
                       "'b' count: 50000 }",
                       "services", "more than 100000 instances in all"}),
    [](const auto& info) { return info.param.rule; });

TEST(ValidateServices, ZNeedsY) {
  // There may be further problems: the ring of the base config needs y as well.
  const auto problems = ProblemsAfter("y_size: 3", "z_size: 3");
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems[0].path, "tests[0].services[\"grid\"].z_size");
  EXPECT_EQ(problems[0].message, "needs y_size; add it");
}

TEST(ValidateServices, AcceptsTextOfAnyLanguage) {
  EXPECT_THAT(ProblemsAfter("", "name: 'größe € 大小 \U0001F600'"),
              ::testing::IsEmpty());
}

TEST(ValidateServices, AcceptsTheBaseConfig) {
  EXPECT_THAT(ProblemsAfter("", ""), ::testing::IsEmpty());
}

TEST(ValidateServices, AcceptsCountThatAgreesWithSizes) {
  EXPECT_THAT(
      ProblemsAfter("x_size: 4 y_size: 3", "count: 12 x_size: 4 y_size: 3"),
      ::testing::IsEmpty());
}

TEST(ValidateServices, AcceptsGridsOfThreeDimensions) {
  EXPECT_THAT(
      ProblemsAfter("x_size: 4 y_size: 3", "x_size: 4 y_size: 3 z_size: 2"),
      ::testing::IsEmpty());
}

TEST(ValidateServices, AcceptsOddNamesOfActions) {
  EXPECT_THAT(ProblemsAfter("", "actions { name: 'root/query fanout' }"),
              ::testing::IsEmpty());
}

}  // namespace
}  // namespace distbench::config
