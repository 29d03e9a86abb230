// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/external/calls/external_peer.h"

#include <cstdint>

#include "distbench/base/clock.h"
#include "gtest/gtest.h"

namespace distbench::external {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

// Returns how many events pass in a period if one is tried every microsecond.
int PassIn(RateLimiter& limiter, int64_t begin_ns, int64_t end_ns) {
  int passed = 0;
  for (int64_t now_ns = begin_ns; now_ns < end_ns; now_ns += 1000) {
    if (limiter.TryPass(now_ns) == 0) ++passed;
  }
  return passed;
}

TEST(RateLimiterTest, LetsAsManyPassAsItMay) {
  RateLimiter limiter(1000);
  EXPECT_EQ(PassIn(limiter, kSecondNs, 2 * kSecondNs), 1010);
  EXPECT_EQ(PassIn(limiter, 2 * kSecondNs, 3 * kSecondNs), 1000);
}

TEST(RateLimiterTest, APauseIsNotMadeUpFor) {
  RateLimiter limiter(1000);
  EXPECT_EQ(PassIn(limiter, kSecondNs, 2 * kSecondNs), 1010);
  EXPECT_EQ(PassIn(limiter, 9 * kSecondNs, 10 * kSecondNs), 1010);
}

TEST(RateLimiterTest, SaysWhenTheNextMayPass) {
  RateLimiter limiter(10);
  EXPECT_EQ(limiter.TryPass(kSecondNs), 0);
  const int64_t free_ns = limiter.TryPass(kSecondNs);
  EXPECT_EQ(free_ns, kSecondNs + 90'000'000);
  EXPECT_EQ(limiter.TryPass(free_ns - 1), free_ns);
  EXPECT_EQ(limiter.TryPass(free_ns), 0);
}

TEST(RateLimiterTest, WhatIsTakenBackMayPassAgain) {
  RateLimiter limiter(10);
  EXPECT_EQ(limiter.TryPass(kSecondNs), 0);
  limiter.TakeBack();
  EXPECT_EQ(limiter.TryPass(kSecondNs), 0);
}

TEST(RateLimiterTest, RatesMayBeVeryLowOrHigh) {
  RateLimiter low(1e-4);
  EXPECT_EQ(low.TryPass(kSecondNs), 0);
  EXPECT_GT(low.TryPass(kSecondNs), 9000 * kSecondNs);
  RateLimiter lowest(1e-300);
  EXPECT_EQ(lowest.TryPass(kSecondNs), 0);
  EXPECT_GT(lowest.TryPass(kSecondNs), 1'000'000'000 * kSecondNs);
  RateLimiter high(1e12);
  EXPECT_EQ(PassIn(high, kSecondNs, kSecondNs + 1'000'000), 1000);
}

// A message that one server's rate holds back is none of the other's.
TEST(ExternalPeerTest, WhatIsHeldBackCountsForNoRate) {
  RateLimiter open(0.001);
  RateLimiter closed(0.001);
  const int64_t now_ns = base::RealClock().MonotonicNs();
  ASSERT_EQ(closed.TryPass(now_ns), 0);
  ExternalPeer both({}, {&open, &closed}, ExternalServer());
  EXPECT_GT(both.TryPass(), now_ns + kSecondNs);
  EXPECT_GT(both.TryPass(), now_ns + kSecondNs);
  EXPECT_EQ(both.held_back(), 1);
  ExternalPeer other({}, {&open}, ExternalServer());
  EXPECT_EQ(other.TryPass(), 0);
  EXPECT_EQ(other.held_back(), 0);
}

}  // namespace
}  // namespace distbench::external
