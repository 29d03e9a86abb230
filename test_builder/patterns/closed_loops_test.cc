// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/patterns/testing/pattern_testing.h"

namespace distbench::test_builder {
namespace {

using testing::HasSubstr;

std::string FilterFor(const std::string& fanout) {
  const auto traffic = BuildPattern("stochastic", {{"fanout", fanout}});
  if (!traffic.ok()) return std::string(traffic.status().message());
  return traffic->body.rpc_descriptions(0).fanout_filter();
}

TEST(StochasticTest, TranslatesTheFanout) {
  EXPECT_EQ(FilterFor("0.7x1+0.3x4"), "stochastic{0.7:1,0.3:4}");
  EXPECT_EQ(FilterFor("1x5"), "stochastic{1:5}");
  EXPECT_EQ(FilterFor("0.25x0+0.25x1+0.5x2"),
            "stochastic{0.25:0,0.25:1,0.5:2}");
}

TEST(StochasticTest, ExplainsAWrongFanout) {
  for (const char* fanout :
       {"0.7", "0.7x", "x4", "0.7x1+", "0.7x1x2", "0.7x1.5", "0.7y1"}) {
    EXPECT_THAT(FilterFor(fanout), HasSubstr("is not a term")) << fanout;
  }
  EXPECT_THAT(FilterFor("0.7x1+0.2x4"), HasSubstr("add up to 0.9"));
  EXPECT_THAT(FilterFor("1.5x1"), HasSubstr("not from 0 to 1"));
  EXPECT_THAT(FilterFor("nanx1"), HasSubstr("not from 0 to 1"));
  EXPECT_THAT(FilterFor("1x6"), HasSubstr("server_count"));
  EXPECT_THAT(FilterFor("1x-1"), HasSubstr("server_count"));
  EXPECT_THAT(FilterFor("0.7x1"), HasSubstr("such as 0.7x1+0.3x4"));
}

TEST(StochasticTest, EndsByIterationsOrByTime) {
  const auto by_time = BuildPattern("stochastic", {});
  ASSERT_TRUE(by_time.ok()) << by_time.status();
  EXPECT_FALSE(by_time->body.actions(0).iterations().has_max_iteration_count());

  const auto by_count = BuildPattern("stochastic", {{"iterations", "500"}});
  ASSERT_TRUE(by_count.ok()) << by_count.status();
  const Iterations& iterations = by_count->body.actions(0).iterations();
  EXPECT_EQ(iterations.max_iteration_count(), 500);
  EXPECT_EQ(iterations.max_duration_us(), 30'000'000);
  EXPECT_EQ(iterations.warmup_iterations(), 100);
}

TEST(StochasticTest, RefusesIterationsThatAreAllWarmUp) {
  const auto traffic = BuildPattern("stochastic", {{"iterations", "100"}});
  EXPECT_THAT(std::string(traffic.status().message()),
              HasSubstr("leaves nothing to measure"));
}

TEST(StochasticTest, PassesOnTheSeed) {
  EXPECT_EQ(BuildPattern("stochastic", {{"seed", "42"}})->body.random_seed(),
            42);
  EXPECT_FALSE(BuildPattern("stochastic", {})->body.has_random_seed());
}

}  // namespace
}  // namespace distbench::test_builder
