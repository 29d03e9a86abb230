// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test_builder/patterns/pattern.h"
#include "test_builder/patterns/testing/pattern_testing.h"

namespace distbench::test_builder {
namespace {

using testing::HasSubstr;

TEST(RectangularTest, BuildsAGrid) {
  const auto traffic = BuildPattern("rectangular", {{"x_size", "4"},
                                                    {"y_size", "3"},
                                                    {"fanout_filter", "same_x"},
                                                    {"tracing_interval", "7"}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  const ServiceSpec& service = traffic->body.services(0);
  EXPECT_EQ(service.count(), 12);
  EXPECT_EQ(service.x_size(), 4);
  EXPECT_EQ(service.y_size(), 3);
  EXPECT_EQ(traffic->body.rpc_descriptions(0).fanout_filter(), "same_x");
  EXPECT_EQ(traffic->body.rpc_descriptions(0).tracing_interval(), 7);
}

TEST(RectangularTest, WarmsUpForThreeSeconds) {
  const auto traffic =
      BuildPattern("rectangular", {{"rpc_interval_us", "70000"}});
  ASSERT_TRUE(traffic.ok()) << traffic.status();
  const Iterations& iterations = traffic->body.actions(0).iterations();
  EXPECT_EQ(iterations.open_loop_interval_ns(), 70'000'000);
  EXPECT_EQ(iterations.warmup_iterations(), 42);
}

TEST(RectangularTest, RefusesAGridOfTooManyNodes) {
  const auto traffic =
      BuildPattern("rectangular", {{"x_size", "1000"}, {"y_size", "1000"}});
  EXPECT_THAT(std::string(traffic.status().message()),
              HasSubstr("1000000 nodes; at most 100000"));
}

}  // namespace
}  // namespace distbench::test_builder
