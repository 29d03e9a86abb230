// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "test_builder/patterns/pattern.h"

#include <set>

#include "absl/algorithm/container.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test_builder/patterns/testing/pattern_testing.h"

namespace distbench::test_builder {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

TEST(RegistryTest, HasThePatterns) {
  EXPECT_THAT(
      PatternNames(),
      ElementsAre("client_server", "clique", "rectangular", "tripartite",
                  "stochastic", "multi_level_rpc",
                  "variable_response_multi_level_rpc", "feed_aggregator",
                  "storage_service", "inference", "streaming", "collective",
                  "training", "homa_cp_node"));
}

TEST(RegistryTest, FindsByName) {
  ASSERT_NE(FindPattern("clique"), nullptr);
  EXPECT_EQ(FindPattern("clique")->name(), "clique");
  EXPECT_EQ(FindPattern("Clique"), nullptr);
  EXPECT_EQ(FindPattern(""), nullptr);
}

std::string BodyProblem(const std::string& body) {
  Pattern pattern;
  pattern.set_name("it");
  pattern.set_body(body);
  (*pattern.mutable_forms())["service"] =
      R"(services { name: "<name>" count: <count> })";
  (*pattern.mutable_forms())["two"] = "2";
  const auto values = ParameterValues::Resolve(CommonParameters(), {});
  return std::string(BuildTraffic(pattern, *values).status().message());
}

TEST(FormTest, WhatItNamesThereIs) {
  EXPECT_EQ(BodyProblem("<service name=a count=<two>>"), "");
  EXPECT_EQ(BodyProblem("<service name=a>"),
            "the forms of it name count, which there is not");
  EXPECT_EQ(BodyProblem("<service name=a count=x>"), "the form of it is wrong");
}

// Properties of every pattern.
class PatternTest : public testing::TestWithParam<std::string> {
 protected:
  const Pattern& pattern() const { return *FindPattern(GetParam()); }
};

TEST_P(PatternTest, DeclaresEachParameterOnceAndSaysWhatItIs) {
  std::set<std::string> names;
  for (const Parameter& parameter : pattern().parameters()) {
    EXPECT_TRUE(names.insert(parameter.name()).second) << parameter.name();
    EXPECT_NE(parameter.meaning(), "") << parameter.name();
    EXPECT_EQ(FindByName(CommonParameters(), parameter.name()), nullptr);
  }
  EXPECT_NE(pattern().summary(), "");
  EXPECT_NE(pattern().description(), "");
}

TEST_P(PatternTest, ExampleIsOfThePattern) {
  EXPECT_THAT(pattern().example(), StartsWith(pattern().name()));
}

TEST_P(PatternTest, BuildsFromItsDefaults) {
  const auto traffic = BuildPattern(GetParam(), {});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  EXPECT_THAT(traffic->alias, StartsWith(pattern().name() + "_"));
  EXPECT_FALSE(traffic->body.has_name());
}

TEST_P(PatternTest, LastsAsLongAsAskedFor) {
  const auto traffic = BuildPattern(GetParam(), {{"test_duration", "0.25"}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  // Ranks that waited for each other could not end by the clock.
  if (FindByName(pattern().parameters(), "iterations") != nullptr &&
      absl::c_any_of(traffic->body.actions(), [](const Action& action) {
        return action.has_collective();
      })) {
    return;
  }
  int limited = 0;
  for (const Action& action : traffic->body.actions()) {
    if (!action.iterations().has_max_duration_us()) continue;
    ++limited;
    EXPECT_EQ(action.iterations().max_duration_us(), 250000);
  }
  EXPECT_EQ(limited, 1);
}

TEST_P(PatternTest, EveryRpcHasAHandler) {
  const auto traffic = BuildPattern(GetParam(), {});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  std::set<std::string> lists;
  for (const ActionList& list : traffic->body.action_lists()) {
    EXPECT_TRUE(lists.insert(list.name()).second) << list.name();
  }
  for (const RpcSpec& rpc : traffic->body.rpc_descriptions()) {
    EXPECT_EQ(lists.count(rpc.name()), 1) << rpc.name();
  }
}

INSTANTIATE_TEST_SUITE_P(AllPatterns, PatternTest,
                         testing::ValuesIn(PatternNames()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return info.param;
                         });

}  // namespace
}  // namespace distbench::test_builder
