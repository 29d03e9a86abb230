#include "distbench/protocol/grpc/queue/wake_timer.h"

#include <atomic>
#include <memory>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(20);
constexpr int64_t kHourNs = int64_t{3600} * 1'000'000'000;

TEST(WakeTimerTest, CallsBackWhenItIsTimeAndNotBefore) {
  WakeTimer timer;
  std::atomic<int64_t> called_ns = 0;
  absl::Notification called;
  WakeTimer::Alarm alarm(timer, [&] {
    called_ns = base::NowNs();
    called.Notify();
  });
  const int64_t due_ns = base::NowNs() + 2'000'000;
  alarm.Set(due_ns);
  ASSERT_TRUE(called.WaitForNotificationWithTimeout(kPatience));
  EXPECT_GE(called_ns, due_ns);
}

TEST(WakeTimerTest, CallsBackAtOnceForThePast) {
  WakeTimer timer;
  for (int64_t due_ns : {int64_t{-5}, int64_t{0}, base::NowNs() - 1}) {
    absl::Notification called;
    WakeTimer::Alarm alarm(timer, [&] { called.Notify(); });
    alarm.Set(due_ns);
    EXPECT_TRUE(called.WaitForNotificationWithTimeout(kPatience)) << due_ns;
  }
}

TEST(WakeTimerTest, SettingReplacesTheTime) {
  WakeTimer timer;
  absl::Notification called;
  WakeTimer::Alarm alarm(timer, [&] { called.Notify(); });
  alarm.Set(base::NowNs() + kHourNs);
  alarm.Set(base::NowNs() + 1'000'000);
  EXPECT_TRUE(called.WaitForNotificationWithTimeout(kPatience));
}

TEST(WakeTimerTest, AlarmsGoOffAgainAndAgain) {
  WakeTimer timer;
  absl::Mutex mutex;
  int count = 0;
  WakeTimer::Alarm alarm(timer, [&] {
    const absl::MutexLock lock(&mutex);
    ++count;
  });
  for (int i = 1; i <= 20; ++i) {
    alarm.Set(base::NowNs() + 100'000);
    const absl::MutexLock lock(&mutex);
    const auto called = [&] { return count == i; };
    ASSERT_TRUE(mutex.AwaitWithTimeout(absl::Condition(&called), kPatience));
  }
}

TEST(WakeTimerTest, AlarmsMayGoWhileTheyGoOff) {
  WakeTimer timer;
  for (int i = 0; i < 500; ++i) {
    std::atomic<bool> alive = true;
    std::vector<std::unique_ptr<WakeTimer::Alarm>> alarms;
    for (int j = 0; j < 4; ++j) {
      alarms.push_back(std::make_unique<WakeTimer::Alarm>(
          timer, [&alive] { EXPECT_TRUE(alive); }));
      alarms.back()->Set(base::NowNs() + 10'000 * j);
    }
    alarms.clear();
    alive = false;
  }
}

}  // namespace
}  // namespace distbench::protocol
