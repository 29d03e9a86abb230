// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/queue/wake_timer.h"

#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/base/testing/scarce_files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(20);
constexpr int64_t kHourNs = int64_t{3600} * 1'000'000'000;

std::unique_ptr<WakeTimer::Alarm> NewAlarm(WakeTimer& timer,
                                           std::function<void()> on_due) {
  std::unique_ptr<WakeTimer::Alarm> alarm = timer.NewAlarm().value();
  alarm->CallBack(std::move(on_due));
  return alarm;
}

TEST(WakeTimerTest, RunningOutOfDescriptorsIsAnError) {
  const std::unique_ptr<WakeTimer> timer = WakeTimer::Make().value();
  const base::ScarceFiles no_files;
  for (const absl::Status& status :
       {WakeTimer::Make().status(), timer->NewAlarm().status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(status.ToString(), testing::HasSubstr("ulimit -n"));
  }
}

TEST(WakeTimerTest, CallsBackWhenItIsTimeAndNotBefore) {
  const std::unique_ptr<WakeTimer> timer = WakeTimer::Make().value();
  std::atomic<int64_t> called_ns = 0;
  absl::Notification called;
  const auto alarm = NewAlarm(*timer, [&] {
    called_ns = base::NowNs();
    called.Notify();
  });
  const int64_t due_ns = base::NowNs() + 2'000'000;
  alarm->Set(due_ns);
  ASSERT_TRUE(called.WaitForNotificationWithTimeout(kPatience));
  EXPECT_GE(called_ns, due_ns);
}

TEST(WakeTimerTest, CallsBackAtOnceForThePast) {
  const std::unique_ptr<WakeTimer> timer = WakeTimer::Make().value();
  for (int64_t due_ns : {int64_t{-5}, int64_t{0}, base::NowNs() - 1}) {
    absl::Notification called;
    const auto alarm = NewAlarm(*timer, [&] { called.Notify(); });
    alarm->Set(due_ns);
    EXPECT_TRUE(called.WaitForNotificationWithTimeout(kPatience)) << due_ns;
  }
}

TEST(WakeTimerTest, SettingReplacesTheTime) {
  const std::unique_ptr<WakeTimer> timer = WakeTimer::Make().value();
  absl::Notification called;
  const auto alarm = NewAlarm(*timer, [&] { called.Notify(); });
  alarm->Set(base::NowNs() + kHourNs);
  alarm->Set(base::NowNs() + 1'000'000);
  EXPECT_TRUE(called.WaitForNotificationWithTimeout(kPatience));
}

TEST(WakeTimerTest, AlarmsGoOffAgainAndAgain) {
  const std::unique_ptr<WakeTimer> timer = WakeTimer::Make().value();
  absl::Mutex mutex;
  int count = 0;
  const auto alarm = NewAlarm(*timer, [&] {
    const absl::MutexLock lock(&mutex);
    ++count;
  });
  for (int i = 1; i <= 20; ++i) {
    alarm->Set(base::NowNs() + 100'000);
    const absl::MutexLock lock(&mutex);
    const auto called = [&] { return count == i; };
    ASSERT_TRUE(mutex.AwaitWithTimeout(absl::Condition(&called), kPatience));
  }
}

TEST(WakeTimerTest, AlarmsMayGoWhileTheyGoOff) {
  const std::unique_ptr<WakeTimer> timer = WakeTimer::Make().value();
  for (int i = 0; i < 500; ++i) {
    std::atomic<bool> alive = true;
    std::vector<std::unique_ptr<WakeTimer::Alarm>> alarms;
    for (int j = 0; j < 4; ++j) {
      alarms.push_back(NewAlarm(*timer, [&alive] { EXPECT_TRUE(alive); }));
      alarms.back()->Set(base::NowNs() + 10'000 * j);
    }
    alarms.clear();
    alive = false;
  }
}

}  // namespace
}  // namespace distbench::protocol
