#include "distbench/engine/policies/hedge_delay.h"

#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

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
