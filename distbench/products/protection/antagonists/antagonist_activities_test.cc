// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/protection/antagonists/antagonist_activities.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "distbench/activity/activity.h"
#include "distbench/activity/registry.h"
#include "distbench/activity/testing/work_conformance.h"
#include "distbench/config/testing/validation_cases.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

// The conformance of activities is a test suite of their own namespace.
namespace distbench::activity {

INSTANTIATE_TEST_SUITE_P(
    Antagonists, WorkTest,
    testing::Values(
        PlanOf("BurnCpu", 1, {{"operations", 20'000}}),
        PlanOf("MemoryBandwidth", 1,
               {{"bytes", 1'000'000}, {"bytes_per_iteration", 200'000}}),
        PlanOf("CacheThrash", 1, {{"bytes", 640'000}, {"accesses", 10'000}})),
    [](const auto& info) { return info.param.function; });

}  // namespace distbench::activity

namespace distbench::protection {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(AntagonistActivitiesTest, TheCatalogHasThemAndTheyRun) {
  for (const char* name : {"BurnCpu", "GrowMemory", "MemoryBandwidth",
                           "CacheThrash", "ForkStorm"}) {
    const config::ActivityDeclaration* declaration = config::FindActivity(name);
    ASSERT_NE(declaration, nullptr) << name;
    EXPECT_FALSE(declaration->description.empty());
    activity::DoIteration(
        **activity::MakeActivity(activity::PlanOf(*declaration), 1), 0);
  }
}

// A config with an activity, one of whose settings is the only problem.
struct AntagonistRule {
  const char* rule;
  const char* function;
  std::string settings;
  const char* setting;
  const char* message;
};

std::string Set(const std::string& name, int64_t value) {
  return "activity_settings { name: '" + name +
         "' int64_value: " + std::to_string(value) + " } ";
}

std::string Set(const std::string& name, const std::string& value) {
  return "activity_settings { name: '" + name + "' string_value: '" + value +
         "' } ";
}

class BadAntagonist : public ::testing::TestWithParam<AntagonistRule> {};

TEST_P(BadAntagonist, IsTheOnlyProblem) {
  const std::vector<config::Problem> problems = config::ProblemsAfter(
      "", absl::StrCat("activity_configs { name: 'a' activity_settings { name: "
                       "'activity_func' string_value: '",
                       GetParam().function, "' } ", GetParam().settings, " }"));
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_THAT(problems[0].path,
              EndsWith(absl::StrCat("activity_configs[\"a\"].activity_settings"
                                    "[\"",
                                    GetParam().setting, "\"]")));
  EXPECT_THAT(problems[0].message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BadAntagonist,
    ::testing::Values(
        AntagonistRule{"MoreThanTheMemory", "GrowMemory",
                       Set("limit_bytes", 1'000'000), "bytes_per_iteration",
                       "is more than limit_bytes, 1000000"},
        AntagonistRule{"NothingToTouch", "GrowMemory",
                       Set("limit_bytes", 100'000'000) + Set("hot_percent", 0),
                       "hot_percent", "set at_limit to \"restart\""},
        AntagonistRule{"AccessToNothing", "GrowMemory",
                       Set("limit_bytes", 100'000'000) + Set("hot_percent", 0) +
                           Set("at_limit", "restart") + Set("access", "read"),
                       "access", "because hot_percent is 0"},
        AntagonistRule{"TwoSizesOfArrays", "MemoryBandwidth",
                       Set("bytes", 1'000'000) + Set("cache_percent", 50),
                       "cache_percent", "because bytes gives the size"},
        AntagonistRule{"TwoSizesOfTheWorkingSet", "CacheThrash",
                       Set("bytes", 1'000'000) + Set("cache_percent", 50),
                       "cache_percent", "because bytes gives the size"},
        AntagonistRule{"StrideAtRandom", "CacheThrash",
                       Set("stride_bytes", 128), "stride_bytes",
                       "because the order is \"random\""}),
    [](const auto& info) { return info.param.rule; });

}  // namespace
}  // namespace distbench::protection
