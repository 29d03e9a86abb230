// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/wakeup.h"

#include <thread>

#include "distbench/base/clock.h"
#include "distbench/base/testing/scarce_files.h"
#include "gmock/gmock.h"
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

TEST(WakeupTest, AMadeOneWorksToo) {
  Wakeup wakeup = Wakeup::Make().value();
  wakeup.Wake();
  EXPECT_TRUE(wakeup.Sleep(-1));
}

TEST(WakeupTest, RunningOutOfDescriptorsIsAnError) {
  const ScarceFiles no_files;
  const absl::StatusOr<Wakeup> wakeup = Wakeup::Make();
  EXPECT_EQ(wakeup.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(wakeup.status().ToString(), testing::HasSubstr("ulimit -n"));
}

TEST(WakeupTest, OtherThreadWakes) {
  Wakeup wakeup;
  std::thread waker([&] { wakeup.Wake(); });
  EXPECT_TRUE(wakeup.Sleep(-1));
  waker.join();
}

}  // namespace
}  // namespace distbench::base
