#include "distbench/engine/policies/attempt_times.h"

#include <algorithm>
#include <random>
#include <string>

#include "distbench/base/testing/proto_testing.h"
#include "gtest/gtest.h"
#include "proto/traffic_config.pb.h"

namespace distbench::engine {
namespace {

constexpr int64_t kMs = 1'000'000;

RetryPolicy PolicyWith(const std::string& jitter) {
  RetryPolicy policy;
  policy.set_initial_backoff_ns(10 * kMs);
  policy.set_max_backoff_ns(150 * kMs);
  policy.set_multiplier(2);
  policy.set_jitter(jitter);
  return policy;
}

TEST(BackoffTest, GrowsToItsMaximum) {
  std::mt19937_64 random(1);
  const RetryPolicy policy = PolicyWith("none");
  EXPECT_EQ(BackoffNs(policy, 1, random), 10 * kMs);
  EXPECT_EQ(BackoffNs(policy, 2, random), 20 * kMs);
  EXPECT_EQ(BackoffNs(policy, 4, random), 80 * kMs);
  EXPECT_EQ(BackoffNs(policy, 5, random), 150 * kMs);
  EXPECT_EQ(BackoffNs(policy, 99, random), 150 * kMs);
}

TEST(BackoffTest, NeverOverflows) {
  std::mt19937_64 random(1);
  RetryPolicy policy = PolicyWith("none");
  policy.set_multiplier(1000);
  EXPECT_EQ(BackoffNs(policy, 99, random), 150 * kMs);
  policy.set_multiplier(1);
  EXPECT_EQ(BackoffNs(policy, 99, random), 10 * kMs);
  policy.set_initial_backoff_ns(0);
  policy.set_max_backoff_ns(0);
  EXPECT_EQ(BackoffNs(policy, 2, random), 0);
}

// The means and bounds of uniform times.
TEST(BackoffTest, JitterHasItsBounds) {
  struct Case {
    std::string jitter;
    int64_t least_ns;
  };
  for (const auto& [jitter, least_ns] :
       {Case{"full", 0}, Case{"equal", 20 * kMs}}) {
    std::mt19937_64 random(3);
    constexpr int kDraws = 20'000;
    int64_t least = 1'000 * kMs;
    int64_t most = 0;
    double sum = 0;
    for (int i = 0; i < kDraws; ++i) {
      const int64_t pause_ns = BackoffNs(PolicyWith(jitter), 3, random);
      least = std::min(least, pause_ns);
      most = std::max(most, pause_ns);
      sum += static_cast<double>(pause_ns);
    }
    EXPECT_GE(least, least_ns);
    EXPECT_LT(least, least_ns + kMs);
    EXPECT_LE(most, 40 * kMs);
    EXPECT_GT(most, 39 * kMs);
    EXPECT_NEAR(sum / kDraws, (least_ns + 40.0 * kMs) / 2, 0.3 * kMs);
  }
}

TEST(HedgeDelayTest, AFixedDelayDoesNotChange) {
  HedgeDelay delay(base::FromText<HedgingPolicy>("delay_ns: 5"));
  for (int i = 0; i < 1000; ++i) delay.OnFirstEnd(1'000'000);
  EXPECT_EQ(delay.delay_ns(), 5);
}

TEST(HedgeDelayTest, APercentileNeedsAHundredTimes) {
  HedgeDelay delay(base::FromText<HedgingPolicy>("percentile: 90"));
  for (int i = 1; i < 100; ++i) delay.OnFirstEnd(i * 1000);
  EXPECT_EQ(delay.delay_ns(), HedgeDelay::kNever);
  delay.OnFirstEnd(100'000);
  EXPECT_NEAR(delay.delay_ns(), 90'000, 1500);
}

TEST(HedgeDelayTest, APercentileFollowsTheTimes) {
  HedgeDelay delay(base::FromText<HedgingPolicy>("percentile: 50"));
  for (int i = 0; i < 1000; ++i) delay.OnFirstEnd(1000);
  EXPECT_NEAR(delay.delay_ns(), 1000, 20);
  for (int i = 0; i < 1100; ++i) delay.OnFirstEnd(9000);
  EXPECT_NEAR(delay.delay_ns(), 9000, 100);
}

}  // namespace
}  // namespace distbench::engine
