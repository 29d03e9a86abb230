// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/config/testing/validation_cases.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

class BadBundle : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadBundle, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rules, BadBundle,
    ::testing::Values(
        ValidationCase{
            "AliasIsNoNode", "",
            "node_service_bundles { key: 'host' value { services: 'client/0' } "
            "}",
            "node_service_bundles[\"host\"]",
            "\"host\" is not a node; nodes are called \"node0\" to "
            "\"node99999\""},
        ValidationCase{"AliasWithLeadingZero", "",
                       "node_service_bundles { key: 'node01' value { services: "
                       "'client/0' } }",
                       "node_service_bundles[\"node01\"]", "is not a node"},
        ValidationCase{"HugeAlias", "",
                       "node_service_bundles { key: 'node50000000' value { "
                       "services: 'client/0' } }",
                       "node_service_bundles[\"node50000000\"]",
                       "is not a node"},
        ValidationCase{"NegativeAlias", "",
                       "node_service_bundles { key: 'node-1' value { services: "
                       "'client/0' } }",
                       "node_service_bundles[\"node-1\"]", "is not a node"},
        ValidationCase{"InstanceOutOfRange", "",
                       "node_service_bundles { key: 'node0' value { services: "
                       "'client/2' } }",
                       "node_service_bundles[\"node0\"].services[0]",
                       "no instance is named \"client/2\"; instances of that "
                       "service go from \"client/0\" to \"client/1\""},
        ValidationCase{
            "UnknownService", "",
            "node_service_bundles { key: 'node0' value { services: 'clint/0' } "
            "}",
            "node_service_bundles[\"node0\"].services[0]",
            "no service is named \"clint\", did you mean \"client\"?"},
        ValidationCase{"NoInstanceName", "",
                       "node_service_bundles { key: 'node0' value { services: "
                       "'client' } }",
                       "node_service_bundles[\"node0\"].services[0]",
                       "instances have names such as"},
        ValidationCase{"InstanceOfGridNeedsItsDimensions", "",
                       "node_service_bundles { key: 'node0' value { services: "
                       "'grid/0' } }",
                       "node_service_bundles[\"node0\"].services[0]",
                       "go from \"grid/0/0\" to \"grid/3/2\""},
        ValidationCase{"InstanceInTwoBundles", "",
                       "node_service_bundles { key: 'node0' value { services: "
                       "'client/0' } } node_service_bundles { key: 'node1' "
                       "value { services: ['client/1', 'client/0'] } }",
                       "node_service_bundles[\"node1\"].services[1]",
                       "\"client/0\" is already in the bundle of \"node0\""},
        ValidationCase{"InstanceTwiceInABundle", "",
                       "node_service_bundles { key: 'node0' value { services: "
                       "['client/0', 'client/0'] } }",
                       "node_service_bundles[\"node0\"].services[1]",
                       "already"}),
    [](const auto& info) { return info.param.rule; });

class BadConstraint : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadConstraint, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rules, BadConstraint,
    ::testing::Values(
        ValidationCase{"UnknownInstance", "",
                       "service_constraints { key: 'client/7' value {} }",
                       "service_constraints[\"client/7\"]",
                       "no instance is named \"client/7\""},
        ValidationCase{"GlobMatchesNothing", "",
                       "service_constraints { key: 'grid/*' value {} }",
                       "service_constraints[\"grid/*\"]",
                       "matches no instance"},
        ValidationCase{"MatchesOnlyAcrossAService", "",
                       "service_constraints { key: 'cl*0' value {} }",
                       "service_constraints[\"cl*0\"]", "matches no instance"},
        ValidationCase{"EmptySet", "",
                       "service_constraints { key: 'client/*' value { "
                       "constraint_sets {} } }",
                       "service_constraints[\"client/*\"].constraint_sets[0]",
                       "is empty, so nothing satisfies it"},
        ValidationCase{
            "NoAttribute", "",
            "service_constraints { key: 'client/*' value { constraint_sets { "
            "constraints { relation: EQUAL string_values: 'a' } } } }",
            "service_constraints[\"client/"
            "*\"].constraint_sets[0].constraints[0].attribute_name",
            "is missing"},
        ValidationCase{
            "NoRelation", "",
            "service_constraints { key: 'client/*' value { constraint_sets { "
            "constraints { attribute_name: 'a' string_values: 'a' } } } }",
            "service_constraints[\"client/"
            "*\"].constraint_sets[0].constraints[0].relation",
            "is missing; must be EQUAL"},
        ValidationCase{"UnknownRelation", "",
                       "service_constraints { key: 'client/*' value { "
                       "constraint_sets { constraints { attribute_name: 'a' "
                       "relation: UNKNOWN string_values: 'a' } } } }",
                       "service_constraints[\"client/"
                       "*\"].constraint_sets[0].constraints[0].relation",
                       "is missing; must be EQUAL"},
        ValidationCase{
            "NoValues", "",
            "service_constraints { key: 'client/*' value { constraint_sets { "
            "constraints { attribute_name: 'a' relation: EQUAL } } } }",
            "service_constraints[\"client/"
            "*\"].constraint_sets[0].constraints[0]",
            "has no values"},
        ValidationCase{
            "SeveralValuesToDifferFrom", "",
            "service_constraints { key: 'client/*' value { "
            "constraint_sets { constraints { attribute_name: 'a' "
            "relation: NOT_EQUAL string_values: ['a', 'b'] } } } }",
            "service_constraints[\"client/"
            "*\"].constraint_sets[0].constraints[0]",
            "every attribute differs from at least one of several values"},
        ValidationCase{"NoModulus", "",
                       "service_constraints { key: 'client/*' value { "
                       "constraint_sets { constraints { attribute_name: 'a' "
                       "relation: MODULO_EQUAL int64_values: 1 } } } }",
                       "service_constraints[\"client/"
                       "*\"].constraint_sets[0].constraints[0].modulus",
                       "0 is out of range; must be at least 1"},
        ValidationCase{
            "NegativeModulus", "",
            "service_constraints { key: 'client/*' value { constraint_sets { "
            "constraints { attribute_name: 'a' relation: MODULO_NOT_EQUAL "
            "modulus: -2 int64_values: 1 } } } }",
            "service_constraints[\"client/"
            "*\"].constraint_sets[0].constraints[0].modulus",
            "-2 is out of range"},
        ValidationCase{"ModulusWithoutModulo", "",
                       "service_constraints { key: 'client/*' value { "
                       "constraint_sets { constraints { attribute_name: 'a' "
                       "relation: EQUAL modulus: 2 int64_values: 1 } } } }",
                       "service_constraints[\"client/"
                       "*\"].constraint_sets[0].constraints[0].modulus",
                       "has no effect"},
        ValidationCase{
            "RemainderOutOfReach", "",
            "service_constraints { key: 'client/*' value { constraint_sets { "
            "constraints { attribute_name: 'a' relation: MODULO_EQUAL modulus: "
            "2 int64_values: [1, 2] } } } }",
            "service_constraints[\"client/"
            "*\"].constraint_sets[0].constraints[0].int64_values[1]",
            "2 is out of range; must be from 0 to 1"},
        ValidationCase{
            "ModuloOfString", "",
            "service_constraints { key: 'client/*' value { constraint_sets { "
            "constraints { attribute_name: 'a' relation: MODULO_EQUAL modulus: "
            "2 string_values: '1' } } } }",
            "service_constraints[\"client/"
            "*\"].constraint_sets[0].constraints[0].string_values",
            "use int64_values"}),
    [](const auto& info) { return info.param.rule; });

class BadChannel : public ::testing::TestWithParam<ValidationCase> {};

TEST_P(BadChannel, IsTheOnlyProblem) { ExpectOneProblem(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Rules, BadChannel,
    ::testing::Values(
        ValidationCase{"NoName", "name: 'server' count: 3",
                       "name: 'server' count: 3 multi_server_channels { "
                       "selected_instances: 0 }",
                       "services[\"server\"].multi_server_channels[0].name",
                       "is missing"},
        ValidationCase{"RepeatedName", "name: 'server' count: 3",
                       "name: 'server' count: 3 multi_server_channels { name: "
                       "'a' selected_instances: 0 } multi_server_channels { "
                       "name: 'a' selected_instances: 1 }",
                       "services[\"server\"].multi_server_channels[1].name",
                       "\"a\" is the name of multi_server_channels[0] as well"},
        ValidationCase{
            "NoMembers", "name: 'server' count: 3",
            "name: 'server' count: 3 multi_server_channels { name: 'a' }",
            "services[\"server\"].multi_server_channels[\"a\"]",
            "has no members"},
        ValidationCase{
            "NoMemberMatches", "name: 'server' count: 3",
            "name: 'server' count: 3 multi_server_channels { name: 'a' "
            "constraints { constraint_sets { constraints { attribute_name: "
            "'index' relation: EQUAL int64_values: 9 } } } }",
            "services[\"server\"].multi_server_channels[\"a\"]",
            "has no members"},
        ValidationCase{"MemberOutOfRange", "name: 'server' count: 3",
                       "name: 'server' count: 3 multi_server_channels { name: "
                       "'a' selected_instances: 3 }",
                       "services[\"server\"].multi_server_channels[\"a\"]."
                       "selected_instances[0]",
                       "3 is out of range; must be from 0 to 2"},
        ValidationCase{"RepeatedMember", "name: 'server' count: 3",
                       "name: 'server' count: 3 multi_server_channels { name: "
                       "'a' selected_instances: [1, 1] }",
                       "services[\"server\"].multi_server_channels[\"a\"]."
                       "selected_instances[1]",
                       "1 is listed more than once"},
        ValidationCase{
            "UnknownAttribute", "name: 'server' count: 3",
            "name: 'server' count: 3 multi_server_channels { name: 'a' "
            "constraints { constraint_sets { constraints { attribute_name: "
            "'x_index' relation: EQUAL int64_values: 1 } } } }",
            "services[\"server\"].multi_server_channels[\"a\"].constraints."
            "constraint_sets[0].constraints[0].attribute_name",
            "have no attribute \"x_index\"; did you mean \"index\"?"},
        ValidationCase{"UnknownSetting", "name: 'server' count: 3",
                       "name: 'server' count: 3 multi_server_channels { name: "
                       "'a' selected_instances: 1 channel_settings { name: "
                       "'polcy' string_value: 'round_robin' } }",
                       "services[\"server\"].multi_server_channels[\"a\"]."
                       "channel_settings[\"polcy\"]",
                       "did you mean \"policy\"?"},
        ValidationCase{"UnknownPolicy", "name: 'server' count: 3",
                       "name: 'server' count: 3 multi_server_channels { name: "
                       "'a' selected_instances: 1 channel_settings { name: "
                       "'policy' string_value: 'best' } }",
                       "services[\"server\"].multi_server_channels[\"a\"]."
                       "channel_settings[\"policy\"]",
                       "must be one of \"round_robin\", \"pick_first\""}),
    [](const auto& info) { return info.param.rule; });

// Trying each combination would take hours.
TEST(ValidatePlacement, RefusesTooManyWildcardsForTheInstances) {
  std::string text = "services { name: 'many' count: 90000 }";
  for (int i = 0; i < 5000; ++i) {
    absl::StrAppend(&text, "service_constraints { key: 'no/*", i,
                    "' value {} }");
  }
  const std::vector<Problem> problems = ProblemsAfter("", text);
  ASSERT_EQ(problems.size(), 1);
  EXPECT_EQ(problems[0].path, "tests[0].service_constraints");
  EXPECT_THAT(problems[0].message,
              HasSubstr("5000 names with wildcards and 90017 instances are "
                        "too many to try each combination"));
}

// 1000 channels, each with a constraint that is tried on this many instances.
std::vector<Problem> ProblemsOfChannels(int instances) {
  std::string channels;
  for (int i = 0; i < 1000; ++i) {
    absl::StrAppend(&channels, "multi_server_channels { name: 'c", i,
                    "' constraints {} }");
  }
  return ProblemsAfter(
      "name: 'server' count: 3",
      absl::StrCat("name: 'server' count: ", instances, " ", channels));
}

TEST(ValidatePlacement, RefusesTooManyConstraintsForTheInstances) {
  const std::vector<Problem> problems = ProblemsOfChannels(2001);
  ASSERT_EQ(problems.size(), 1);
  EXPECT_EQ(problems[0].path, "tests[0].services");
  EXPECT_THAT(problems[0].message,
              HasSubstr("2001000 tries, and 2000000 are allowed"));
  EXPECT_THAT(ProblemsOfChannels(2000), testing::IsEmpty());
}

// All services count together.
TEST(ValidatePlacement, CountsTheConstraintsOfAllServices) {
  std::string services;
  for (int i = 0; i < 3; ++i) {
    absl::StrAppend(&services, "services { name: 'many", i, "' count: 1000 ");
    for (int channel = 0; channel < 700; ++channel) {
      absl::StrAppend(&services, "multi_server_channels { name: 'c", channel,
                      "' constraints {} }");
    }
    absl::StrAppend(&services, "}");
  }
  const std::vector<Problem> problems = ProblemsAfter("", services);
  ASSERT_EQ(problems.size(), 1);
  EXPECT_THAT(problems[0].message, HasSubstr("2100000 tries"));
}

// Matching such a wildcard with such a name takes a tenth of a second.
TEST(ValidatePlacement, LongNamesAndWildcardsAreNotTried) {
  const std::string name(10'000, 'a');
  const std::string text =
      absl::StrCat("services { name: '", name,
                   "' count: 90000 } service_constraints { "
                   "key: '*",
                   name.substr(5'000), "b*/x' value {} }");
  const std::vector<Problem> problems = ProblemsAfter("", text);
  EXPECT_THAT(problems,
              Contains(Field(&Problem::message, HasSubstr("is longer than"))));
}

TEST(ValidatePlacement, AcceptsBundles) {
  EXPECT_THAT(
      ProblemsAfter(
          "",
          "node_service_bundles { key: 'node0' value { services: ['client/0', "
          "'grid/3/2'] } } node_service_bundles { key: 'node99999' value {} }"),
      ::testing::IsEmpty());
}

TEST(ValidatePlacement, AcceptsConstraints) {
  EXPECT_THAT(
      ProblemsAfter("",
                    "service_constraints { key: 'client/*' value { "
                    "constraint_sets { constraints { attribute_name: 'a' "
                    "relation: MODULO_NOT_EQUAL modulus: 2 int64_values: 1 } } "
                    "} } service_constraints { key: 'grid/1/1' value {} } "
                    "service_constraints { key: 'grid/*/[01]' value {} }"),
      ::testing::IsEmpty());
}

TEST(ValidatePlacement, AcceptsChannels) {
  EXPECT_THAT(ProblemsAfter("name: 'server' count: 3",
                            "name: 'server' count: 3 multi_server_channels { "
                            "name: 'a' selected_instances: 0 constraints {} }"),
              ::testing::IsEmpty());
}

}  // namespace
}  // namespace distbench::config
