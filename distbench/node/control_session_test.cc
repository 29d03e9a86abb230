// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/control_session.h"

#include <cstdint>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::node {
namespace {

using ::testing::ElementsAre;

TEST(CreditWindowTest, WaitsForTheReceiver) {
  CreditWindow window;
  window.Open(10);
  EXPECT_TRUE(window.Acquire(6));
  EXPECT_TRUE(window.Acquire(4));
  absl::Notification acquired;
  std::thread sender([&] {
    EXPECT_TRUE(window.Acquire(5));
    acquired.Notify();
  });
  EXPECT_FALSE(acquired.HasBeenNotified());
  window.Release(6);
  acquired.WaitForNotification();
  sender.join();
}

TEST(CreditWindowTest, LetsPassWhatExceedsTheWholeWindow) {
  CreditWindow window;
  window.Open(10);
  EXPECT_TRUE(window.Acquire(100));
  window.Release(100);
  EXPECT_TRUE(window.Acquire(10));
}

TEST(CreditWindowTest, CloseReleasesWhoWaits) {
  CreditWindow window;
  window.Open(10);
  EXPECT_TRUE(window.Acquire(10));
  std::thread sender([&] { EXPECT_FALSE(window.Acquire(1)); });
  window.Close();
  sender.join();
  EXPECT_FALSE(window.Acquire(1));
}

// The seconds at which reports are due, if it is asked five times a second.
std::vector<double> DueSeconds(ProgressTimes times, double until) {
  constexpr absl::Duration kTick = absl::Milliseconds(200);
  std::vector<double> due;
  for (int tick = 0; tick * kTick <= absl::Seconds(until); ++tick) {
    const absl::Duration now = tick * kTick;
    if (times.IsDue(absl::ToInt64Nanoseconds(now), kTick / 2)) {
      due.push_back(absl::ToDoubleSeconds(now));
    }
  }
  return due;
}

TEST(ProgressTimesTest, ReportsOnceASecondUnlessToldOtherwise) {
  ProgressTimes times;
  EXPECT_THAT(DueSeconds(times, 3), ElementsAre(0, 1, 2, 3));
  times.Start(absl::ZeroDuration(), /*phase=*/0.9, 0);
  EXPECT_THAT(DueSeconds(times, 3), ElementsAre(0, 1, 2, 3));
}

TEST(ProgressTimesTest, AmongManyNodesEachReportsAtItsOwnTime) {
  ProgressTimes times;
  times.Start(absl::Seconds(5), /*phase=*/0, 0);
  EXPECT_THAT(DueSeconds(times, 10), ElementsAre(0, 5, 10));
  times.Start(absl::Seconds(5), /*phase=*/0.5, 0);
  EXPECT_THAT(DueSeconds(times, 10), ElementsAre(2, 7));
}

TEST(ProgressTimesTest, NoIntervalIsAbsurd) {
  ProgressTimes times;
  times.Start(absl::Nanoseconds(-5), /*phase=*/1, 0);
  EXPECT_THAT(DueSeconds(times, 1), ElementsAre(0, 1));
  times.Start(absl::Hours(1'000'000), /*phase=*/0, 0);
  EXPECT_THAT(DueSeconds(times, 61), ElementsAre(0, 60));
}

}  // namespace
}  // namespace distbench::node
