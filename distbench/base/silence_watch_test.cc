// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/silence_watch.h"

#include <memory>
#include <optional>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "distbench/base/testing/patience.h"
#include "gtest/gtest.h"

namespace distbench::base {
namespace {

TEST(SilenceWatchTest, NoticesSilenceWithinTheTimeout) {
  absl::Notification silence;
  const absl::Time start = absl::Now();
  SilenceWatch watch(absl::Milliseconds(200), [&] { silence.Notify(); });
  EXPECT_TRUE(silence.WaitForNotificationWithTimeout(kGenerous));
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(170));
}

TEST(SilenceWatchTest, AnnouncedTimeoutReplacesTheFirstOne) {
  absl::Notification silence;
  SilenceWatch watch(absl::Hours(1), [&] { silence.Notify(); });
  watch.SetTimeout(absl::Milliseconds(10));
  EXPECT_TRUE(silence.WaitForNotificationWithTimeout(kGenerous));
}

TEST(SilenceWatchTest, WhoeverIsHeardIsNotSilent) {
  absl::Notification silence;
  SilenceWatch watch(absl::Seconds(2), [&] { silence.Notify(); });
  for (const absl::Time end = absl::Now() + absl::Seconds(3);
       absl::Now() < end;) {
    watch.Hear();
    EXPECT_FALSE(
        silence.WaitForNotificationWithTimeout(absl::Milliseconds(10)));
  }
}

TEST(SilenceWatchTest, EndsAtOnceWhereSilenceMeansNothing) {
  std::optional<SilenceWatch> watch;
  watch.emplace(absl::Milliseconds(1), [] {});
  watch->SetTimeout(absl::InfiniteDuration());
  watch.reset();
}

}  // namespace
}  // namespace distbench::base
