// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/config/syntax/fanout_filter.h"

#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

FanoutPlan Parse(const std::string& filter) {
  const auto fanout = ParseFanoutFilter(filter);
  EXPECT_TRUE(fanout.ok()) << fanout.status();
  return fanout.value_or(FanoutPlan());
}

std::string ErrorOf(const std::string& filter) {
  const auto fanout = ParseFanoutFilter(filter);
  EXPECT_EQ(fanout.status().code(), absl::StatusCode::kInvalidArgument)
      << filter;
  return std::string(fanout.status().message());
}

TEST(FanoutFilter, ParsesPlainFilters) {
  EXPECT_EQ(Parse("").kind, FanoutPlan::Kind::kAll);
  EXPECT_EQ(Parse("all").kind, FanoutPlan::Kind::kAll);
  EXPECT_EQ(Parse("random").kind, FanoutPlan::Kind::kRandom);
  EXPECT_EQ(Parse("random_single").kind, FanoutPlan::Kind::kRandom);
  EXPECT_EQ(Parse("round_robin").kind, FanoutPlan::Kind::kRoundRobin);
  EXPECT_THAT(AxesOf(Parse("all")), IsEmpty());
}

TEST(FanoutFilter, ParsesAxes) {
  EXPECT_EQ(Parse("same_yz").kind, FanoutPlan::Kind::kSameCoordinates);
  EXPECT_THAT(AxesOf(Parse("same_yz")), ElementsAre(1, 2));
  EXPECT_EQ(Parse("ring_y").kind, FanoutPlan::Kind::kRing);
  EXPECT_THAT(AxesOf(Parse("ring_y")), ElementsAre(1));
  EXPECT_EQ(Parse("alternating_ring_z").kind,
            FanoutPlan::Kind::kAlternatingRing);
  EXPECT_THAT(AxesOf(Parse("alternating_ring_z")), ElementsAre(2));
}

TEST(FanoutFilter, ParsesLinear) {
  const FanoutPlan fanout = Parse("linear_y{-12}");
  EXPECT_EQ(fanout.kind, FanoutPlan::Kind::kLinear);
  EXPECT_EQ(fanout.distance, -12);
  EXPECT_THAT(AxesOf(fanout), ElementsAre(1));
}

TEST(FanoutFilter, ParsesPeersByNumber) {
  EXPECT_EQ(Parse("ring_x").distance, 1);
  EXPECT_EQ(Parse("ring_z{-3}").kind, FanoutPlan::Kind::kRing);
  EXPECT_EQ(Parse("ring_z{-3}").distance, -3);
  EXPECT_EQ(Parse("xor_y{4}").kind, FanoutPlan::Kind::kXor);
  EXPECT_EQ(Parse("xor_y{4}").distance, 4);
  EXPECT_EQ(Parse("child_x{2}").kind, FanoutPlan::Kind::kChild);
  EXPECT_EQ(Parse("parent_x{1}").kind, FanoutPlan::Kind::kParent);
  EXPECT_THAT(AxesOf(Parse("parent_z{1}")), ElementsAre(2));
  EXPECT_THAT(ErrorOf("xor_x{0}"), HasSubstr("must be an integer above 0"));
  EXPECT_THAT(ErrorOf("child_x{3}"), HasSubstr("must be 1, the first one"));
  EXPECT_THAT(ErrorOf("parent_x{0}"), HasSubstr("must be 1, the first one"));
}

TEST(FanoutFilter, KnowsWhichCallEachOnce) {
  for (const std::string& filter : FiltersThatCallEachOnce()) {
    EXPECT_TRUE(CallsEachOnce(Parse(filter))) << filter;
  }
  for (const char* filter :
       {"all", "random", "round_robin", "same_x", "stochastic{1:1}"}) {
    EXPECT_FALSE(CallsEachOnce(Parse(filter))) << filter;
  }
}

TEST(FanoutFilter, ParsesStochastic) {
  for (const char* filter :
       {"stochastic{0.7:1,0.3:4}", "stochastic{ 0.7:1, 3e-1:4 }"}) {
    const FanoutPlan fanout = Parse(filter);
    EXPECT_EQ(fanout.kind, FanoutPlan::Kind::kStochastic);
    ASSERT_EQ(fanout.choices.size(), 2);
    EXPECT_DOUBLE_EQ(fanout.choices[0].probability, 0.7);
    EXPECT_EQ(fanout.choices[0].target_count, 1);
    EXPECT_DOUBLE_EQ(fanout.choices[1].probability, 0.3);
    EXPECT_EQ(fanout.choices[1].target_count, 4);
  }
  EXPECT_EQ(Parse("stochastic{1:0}").choices[0].target_count, 0);
  Parse("stochastic{0.333333:1,0.333333:2,0.333334:3}");
}

TEST(FanoutFilter, RefusesEverythingElse) {
  EXPECT_THAT(ErrorOf("round_robbin"),
              HasSubstr("did you mean \"round_robin\""));
  EXPECT_THAT(ErrorOf("?"), HasSubstr("\"stochastic{p:n,p:n}\""));
  for (const char* filter :
       {"ALL", " all", "same_yx", "same_", "ring_w", "linear_x", "linear_x{",
        "linear_w{1}", "stochastic", "stochastic{", "alternating_ring"}) {
    ErrorOf(filter);
  }
  for (const char* filter : {"linear_x{}", "linear_x{1.5}", "linear_z{1}}",
                             "linear_x{99999999999}", "linear_x{one}"}) {
    EXPECT_THAT(ErrorOf(filter), HasSubstr("must be an integer"));
  }
}

TEST(FanoutFilter, RefusesBadProbabilities) {
  EXPECT_THAT(ErrorOf("stochastic{0.7:1,0.2:4}"),
              HasSubstr("sum to 0.9; they must sum to 1"));
  EXPECT_THAT(ErrorOf("stochastic{0.7:1,0.7:4}"), HasSubstr("sum to 1.4"));
  for (const char* filter :
       {"stochastic{}", "stochastic{1}", "stochastic{1:}", "stochastic{:1}",
        "stochastic{1:1,}", "stochastic{1:1:1}", "stochastic{1.5:1,-0.5:1}",
        "stochastic{nan:1}", "stochastic{inf:1}", "stochastic{0x1:1}",
        "stochastic{1:-1}", "stochastic{1:1.5}", "stochastic{1x:1}",
        "stochastic{1:99999999999}"}) {
    EXPECT_THAT(ErrorOf(filter), HasSubstr("must be a probability")) << filter;
  }
}

}  // namespace
}  // namespace distbench::config
