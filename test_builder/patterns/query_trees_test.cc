// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests of the patterns that are query trees.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/patterns/testing/pattern_testing.h"

namespace distbench::test_builder {
namespace {

using testing::HasSubstr;

const Iterations& ScheduleOf(const Traffic& traffic) {
  return traffic.body.actions(0).iterations();
}

TEST(QueryTreeTest, SchedulesByQueriesPerSecond) {
  const auto traffic = BuildPattern("multi_level_rpc", {{"qps", "300"}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  EXPECT_EQ(ScheduleOf(*traffic).open_loop_interval_ns(), 3'333'333);
  EXPECT_EQ(ScheduleOf(*traffic).warmup_iterations(), 900);
  EXPECT_FALSE(ScheduleOf(*traffic).has_open_loop_interval_distribution());
}

TEST(QueryTreeTest, TakesFractionsOfQueriesPerSecond) {
  const auto traffic = BuildPattern("multi_level_rpc", {{"qps", "0.5"}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  EXPECT_EQ(ScheduleOf(*traffic).open_loop_interval_ns(), 2'000'000'000);
  EXPECT_EQ(ScheduleOf(*traffic).warmup_iterations(), 1);
  EXPECT_EQ(traffic->alias, "multi_level_rpc_4x20x0.5");
}

TEST(VariableResponseTest, DrawsResponsesFromARange) {
  const auto traffic =
      BuildPattern("variable_response_multi_level_rpc",
                   {{"lower_size", "10"}, {"upper_size", "20"}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  EXPECT_EQ(traffic->name_suffix, "-10-20");
  const PmfPoint& point = traffic->body.distribution_config(0).pmf_points(0);
  EXPECT_EQ(point.data_points(1).lower(), 10);
  EXPECT_EQ(point.data_points(1).upper(), 20);
  EXPECT_EQ(ScheduleOf(*traffic).open_loop_interval_distribution(),
            "exponential");
}

TEST(VariableResponseTest, AnExactSizeIsARangeOfOne) {
  const auto traffic = BuildPattern("variable_response_multi_level_rpc",
                                    {{"exact_size", "35000"}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  EXPECT_EQ(traffic->name_suffix, "-35000-35000");
}

TEST(VariableResponseTest, RefusesContradictions) {
  const auto reversed =
      BuildPattern("variable_response_multi_level_rpc",
                   {{"lower_size", "20"}, {"upper_size", "10"}});
  EXPECT_THAT(std::string(reversed.status().message()),
              HasSubstr("lower_size=20 is above upper_size=10"));
  const auto both = BuildPattern("variable_response_multi_level_rpc",
                                 {{"lower_size", "1"}, {"exact_size", "2"}});
  EXPECT_THAT(std::string(both.status().message()),
              HasSubstr("lower_size and exact_size exclude each other"));
}

}  // namespace
}  // namespace distbench::test_builder
