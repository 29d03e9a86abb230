#include "distbench/base/wakeup.h"

#include <thread>

#include "distbench/base/clock.h"
#include "gtest/gtest.h"

namespace distbench::base {
namespace {

TEST(WakeupTest, SleepEndsAtItsTimeout) {
  Wakeup wakeup;
  const int64_t before_ns = RealClock().MonotonicNs();
  EXPECT_FALSE(wakeup.Sleep(2'000'000));
  EXPECT_GE(RealClock().MonotonicNs() - before_ns, 2'000'000);
}

TEST(WakeupTest, EarlierWakeIsNotLostAndNotKept) {
  Wakeup wakeup;
  wakeup.Wake();
  wakeup.Wake();
  EXPECT_TRUE(wakeup.Sleep(-1));
  EXPECT_FALSE(wakeup.Sleep(0));
}

TEST(WakeupTest, OtherThreadWakes) {
  Wakeup wakeup;
  std::thread waker([&] { wakeup.Wake(); });
  EXPECT_TRUE(wakeup.Sleep(-1));
  waker.join();
}

}  // namespace
}  // namespace distbench::base
