// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/blame/stragglers.h"

#include <algorithm>
#include <random>

#include "distbench/products/blame/testing/simulated_requests.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::blame {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using Straggler = ReportedBlame::Straggler;

constexpr int kFast = 0;
constexpr int kSlow = 1;

// Fanouts to two instances whose times are exponential.
TracedRequests Pairs(int count, double slowness) {
  TracedRequests requests = {.rpcs = {"query", "leaf"},
                             .instances = {"leaf/0", "leaf/1", "root/0"}};
  std::mt19937_64 random(1);
  std::exponential_distribution<> draw(1e-6);
  for (int i = 0; i < count; ++i) {
    const auto fast_ns = static_cast<int64_t>(draw(random));
    const auto slow_ns = static_cast<int64_t>(slowness * draw(random));
    requests.trees.push_back(
        TreeOf({{.server = 2, .end_ns = std::max(fast_ns, slow_ns)},
                {.rpc = 1,
                 .server = kFast,
                 .parent = 0,
                 .fanout = 1,
                 .end_ns = fast_ns},
                {.rpc = 1,
                 .server = kSlow,
                 .parent = 0,
                 .fanout = 1,
                 .end_ns = slow_ns}}));
  }
  return requests;
}

TEST(StragglersTest, CountsAreAsCalculated) {
  // The probability that one with the triple mean is last: 3 / (1 + 3).
  const TracedRequests requests = Pairs(4'000, 3);
  const auto stragglers = FindStragglers(requests, {});
  ASSERT_THAT(stragglers, SizeIs(2));
  const Straggler& slow = stragglers[0];
  EXPECT_EQ(slow.instance(), "leaf/1");
  EXPECT_EQ(slow.all().fanout_count(), 4'000);
  EXPECT_EQ(slow.all().expected_count(), 2'000);
  // Within four standard deviations.
  EXPECT_NEAR(static_cast<double>(slow.all().last_count()), 3'000, 110);
  // z = 2.4977 for an error of 2.5 % in four tests, and a deviation of 31.6.
  EXPECT_NEAR(static_cast<double>(slow.all().most_by_chance()), 2'079, 1);
  EXPECT_TRUE(slow.is_to_blame());
  EXPECT_EQ(slow.own_share(), 1);
  EXPECT_EQ(slow.tail().fanout_count(), 0);

  EXPECT_EQ(stragglers[1].all().last_count(), 4'000 - slow.all().last_count());
  EXPECT_FALSE(stragglers[1].is_to_blame());
}

TEST(StragglersTest, TheTailIsJudgedByItself) {
  const TracedRequests requests = Pairs(4'000, 3);
  const TailWindow tail = WindowsOf(requests)[1];
  const Straggler slow = FindStragglers(requests, tail)[0];
  EXPECT_EQ(slow.tail().fanout_count(), 80);
  // Both ends of the window are far beyond what the fast one takes.
  EXPECT_EQ(slow.tail().last_count(), 80);
  EXPECT_TRUE(slow.tail().is_straggler());
  EXPECT_EQ(slow.tail_share(), 1);
}

TEST(StragglersTest, ASmallDifferenceIsNoStraggler) {
  // In 55 % of fanouts, which is certain after so many.
  const Straggler slow = FindStragglers(Pairs(10'000, 1.22), {})[0];
  EXPECT_GT(slow.all().last_count(), slow.all().most_by_chance());
  EXPECT_FALSE(slow.is_to_blame());
}

TEST(StragglersTest, AFewFanoutsProveNothing) {
  const auto stragglers = FindStragglers(Pairs(5, 100), {});
  EXPECT_EQ(stragglers[0].all().last_count(), 5);
  EXPECT_FALSE(stragglers[0].is_to_blame());
}

// All others were as fast, but for a moment.
TEST(StragglersTest, AMomentProvesNothing) {
  TracedRequests requests = Pairs(4'000, 1);
  const TracedRequests slow = Pairs(4'000, 1'000);
  std::copy(slow.trees.begin() + 1'000, slow.trees.begin() + 1'100,
            requests.trees.begin() + 1'000);
  const Straggler straggler =
      FindStragglers(requests, WindowsOf(requests)[kTail])[0];
  EXPECT_EQ(straggler.instance(), "leaf/1");
  EXPECT_EQ(straggler.tail().last_count(), 80);
  EXPECT_FALSE(straggler.tail().is_straggler());
  EXPECT_FALSE(straggler.is_to_blame());
}

TEST(IsThroughoutTest, IsDecidedByTheBlocksThatAgree) {
  BlockAmounts added = {};
  EXPECT_FALSE(IsThroughout(0, added, 0.025));
  // One block counts for 1, whatever it has; four, for 2, above 1.96.
  added[7] = 1'000;
  EXPECT_FALSE(IsThroughout(1'000, added, 0.025));
  for (int i = 0; i < 3; ++i) added[i] = added[7];
  EXPECT_TRUE(IsThroughout(4'000, added, 0.025));
  added[8] = -1'000;
  EXPECT_FALSE(IsThroughout(3'000, added, 0.025));
}

TEST(StragglersTest, FanoutsThatEndTogetherHaveNoLast) {
  EXPECT_THAT(
      FindStragglers(Simulate({.requests = 100, .is_random = false}), {}),
      IsEmpty());
}

TEST(StragglersTest, WhoWaitsForAStragglerIsNotToBlame) {
  TracedRequests requests = {
      .rpcs = {"query", "rank", "lookup"},
      .instances = {"root/0", "middle/0", "middle/1", "leaf/0"}};
  for (int i = 0; i < 100; ++i) {
    requests.trees.push_back(TreeOf(
        {{.end_ns = 100},
         {.rpc = 1, .server = 1, .parent = 0, .fanout = 1, .end_ns = 100},
         {.rpc = 1, .server = 2, .parent = 0, .fanout = 1, .end_ns = 50},
         {.rpc = 2, .server = 3, .parent = 1, .fanout = 3, .end_ns = 80}}));
  }
  const auto stragglers = FindStragglers(requests, {});
  ASSERT_THAT(stragglers, SizeIs(2));
  EXPECT_EQ(stragglers[0].instance(), "middle/0");
  EXPECT_TRUE(stragglers[0].all().is_straggler());
  EXPECT_DOUBLE_EQ(stragglers[0].own_share(), 0.2);
  EXPECT_FALSE(stragglers[0].is_to_blame());
}

}  // namespace
}  // namespace distbench::blame
