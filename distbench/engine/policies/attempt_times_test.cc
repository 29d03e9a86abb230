#include "distbench/engine/policies/attempt_times.h"

#include <algorithm>
#include <random>

#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

constexpr int64_t kMs = 1'000'000;

config::RetryPlan PlanWith(config::RetryPlan::Jitter jitter) {
  config::RetryPlan plan;
  plan.initial_backoff_ns = 10 * kMs;
  plan.max_backoff_ns = 150 * kMs;
  plan.multiplier = 2;
  plan.jitter = jitter;
  return plan;
}

TEST(BackoffTest, GrowsToItsMaximum) {
  std::mt19937_64 random(1);
  const config::RetryPlan plan = PlanWith(config::RetryPlan::Jitter::kNone);
  EXPECT_EQ(BackoffNs(plan, 1, random), 10 * kMs);
  EXPECT_EQ(BackoffNs(plan, 2, random), 20 * kMs);
  EXPECT_EQ(BackoffNs(plan, 4, random), 80 * kMs);
  EXPECT_EQ(BackoffNs(plan, 5, random), 150 * kMs);
  EXPECT_EQ(BackoffNs(plan, 99, random), 150 * kMs);
}

TEST(BackoffTest, NeverOverflows) {
  std::mt19937_64 random(1);
  config::RetryPlan plan = PlanWith(config::RetryPlan::Jitter::kNone);
  plan.multiplier = 1000;
  EXPECT_EQ(BackoffNs(plan, 99, random), 150 * kMs);
  plan.multiplier = 1;
  EXPECT_EQ(BackoffNs(plan, 99, random), 10 * kMs);
  plan.initial_backoff_ns = plan.max_backoff_ns = 0;
  EXPECT_EQ(BackoffNs(plan, 2, random), 0);
}

// The means and bounds of uniform times.
TEST(BackoffTest, JitterHasItsBounds) {
  struct Case {
    config::RetryPlan::Jitter jitter;
    int64_t least_ns;
  };
  for (const auto& [jitter, least_ns] :
       {Case{config::RetryPlan::Jitter::kFull, 0},
        Case{config::RetryPlan::Jitter::kEqual, 20 * kMs}}) {
    std::mt19937_64 random(3);
    constexpr int kDraws = 20'000;
    int64_t least = 1'000 * kMs;
    int64_t most = 0;
    double sum = 0;
    for (int i = 0; i < kDraws; ++i) {
      const int64_t pause_ns = BackoffNs(PlanWith(jitter), 3, random);
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
  HedgeDelay delay(config::HedgingPlan{.delay_ns = 5});
  for (int i = 0; i < 1000; ++i) delay.OnFirstEnd(1'000'000);
  EXPECT_EQ(delay.delay_ns(), 5);
}

TEST(HedgeDelayTest, APercentileNeedsAHundredTimes) {
  HedgeDelay delay(config::HedgingPlan{.percentile = 90});
  for (int i = 1; i < 100; ++i) delay.OnFirstEnd(i * 1000);
  EXPECT_EQ(delay.delay_ns(), HedgeDelay::kNever);
  delay.OnFirstEnd(100'000);
  EXPECT_NEAR(delay.delay_ns(), 90'000, 1500);
}

TEST(HedgeDelayTest, APercentileFollowsTheTimes) {
  HedgeDelay delay(config::HedgingPlan{.percentile = 50});
  for (int i = 0; i < 1000; ++i) delay.OnFirstEnd(1000);
  EXPECT_NEAR(delay.delay_ns(), 1000, 20);
  for (int i = 0; i < 1100; ++i) delay.OnFirstEnd(9000);
  EXPECT_NEAR(delay.delay_ns(), 9000, 100);
}

}  // namespace
}  // namespace distbench::engine
