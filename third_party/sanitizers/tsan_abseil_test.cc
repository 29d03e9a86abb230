// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Tests that ThreadSanitizer knows what Abseil's locks order, and no more: a
// false report fails any test here, and the last test expects a true report.

#include "gtest/gtest.h"

#include <cstdlib>
#include <thread>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

// A function of ThreadSanitizer's library, if that is linked.
extern "C" void __tsan_acquire(void* address) __attribute__((weak));

namespace {

// Long enough for any machine.
constexpr absl::Duration kLong = absl::Minutes(5);

// Data shared by the threads of a test. Nothing here is atomic.
struct Shared {
  absl::Mutex mutex;
  absl::CondVar changed;
  int value = 0;

  void Set(int new_value) {
    absl::MutexLock lock(&mutex);
    value = new_value;
    changed.SignalAll();
  }
};

bool IsOne(Shared* shared) { return shared->value == 1; }
bool IsTwo(Shared* shared) { return shared->value == 2; }

class TsanAbseilTest : public testing::Test {
 protected:
  absl::Condition IsOneNow() { return absl::Condition(IsOne, &shared_); }

  Shared shared_;
};

TEST_F(TsanAbseilTest, Lock) {
  std::thread other([this] { shared_.Set(1); });
  shared_.Set(2);
  other.join();
  EXPECT_GT(shared_.value, 0);
}

TEST_F(TsanAbseilTest, TryLock) {
  const auto count = [this] {
    while (!shared_.mutex.TryLock()) {
    }
    ++shared_.value;
    shared_.mutex.Unlock();
  };
  std::thread other(count);
  count();
  other.join();
  EXPECT_EQ(shared_.value, 2);
}

TEST_F(TsanAbseilTest, Await) {
  std::thread other([this] {
    shared_.Set(1);
    absl::MutexLock lock(&shared_.mutex);
    shared_.mutex.Await(absl::Condition(IsTwo, &shared_));
    shared_.value = 3;
  });
  {
    absl::MutexLock lock(&shared_.mutex);
    EXPECT_TRUE(shared_.mutex.AwaitWithTimeout(IsOneNow(), kLong));
    EXPECT_TRUE(
        shared_.mutex.AwaitWithDeadline(IsOneNow(), absl::Now() + kLong));
    shared_.value = 2;
  }
  other.join();
  EXPECT_EQ(shared_.value, 3);
}

TEST_F(TsanAbseilTest, LockWhen) {
  std::thread other([this] { shared_.Set(1); });
  shared_.mutex.LockWhen(IsOneNow());
  shared_.value = 2;
  shared_.mutex.Unlock();
  other.join();
  EXPECT_FALSE(shared_.mutex.LockWhenWithTimeout(IsOneNow(), absl::Seconds(0)));
  shared_.mutex.Unlock();
}

TEST_F(TsanAbseilTest, CondVar) {
  std::thread other([this] { shared_.Set(1); });
  {
    absl::MutexLock lock(&shared_.mutex);
    while (shared_.value != 1) {
      shared_.changed.Wait(&shared_.mutex);
    }
    EXPECT_TRUE(
        shared_.changed.WaitWithTimeout(&shared_.mutex, absl::Seconds(0)));
    shared_.value = 2;
  }
  other.join();
}

TEST_F(TsanAbseilTest, Notification) {
  absl::Notification started, ended;
  std::thread other([this, &started, &ended] {
    shared_.value = 1;
    started.Notify();
    while (!ended.HasBeenNotified()) {
    }
    shared_.value = 3;
  });
  started.WaitForNotification();
  EXPECT_TRUE(started.WaitForNotificationWithTimeout(kLong));
  EXPECT_TRUE(started.WaitForNotificationWithDeadline(absl::Now() + kLong));
  shared_.value = 2;
  ended.Notify();
  other.join();
  EXPECT_EQ(shared_.value, 3);
}

TEST_F(TsanAbseilTest, BlockingCounter) {
  absl::BlockingCounter both(2);
  int value = 0;
  std::thread first([&] {
    value = 1;
    both.DecrementCount();
  });
  std::thread second([&] {
    shared_.value = 1;
    both.DecrementCount();
  });
  both.Wait();
  EXPECT_EQ(++value, 2);
  EXPECT_EQ(++shared_.value, 2);
  first.join();
  second.join();
}

// One of the two threads does not take the lock.
[[noreturn]] void Race() {
  Shared shared;
  std::thread other([&shared] { shared.Set(1); });
  shared.value = 2;
  other.join();
  std::exit(0);
}

TEST(TsanAbseilDeathTest, ReportsWhoForgetsTheLock) {
  if (__tsan_acquire == nullptr) GTEST_SKIP() << "this is for --config=tsan";
  constexpr int kExitCodeOfTsan = 66;
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(Race(), testing::ExitedWithCode(kExitCodeOfTsan), "data race");
}

}  // namespace
