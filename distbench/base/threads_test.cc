#include "distbench/base/threads.h"

#include <sched.h>

#include <atomic>
#include <thread>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "distbench/base/testing/scarce_memory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::base {
namespace {

using ::testing::HasSubstr;

TEST(StartThread, RunsTheBody) {
  std::atomic<bool> ran = false;
  absl::StatusOr<std::thread> thread =
      StartThread("a test", [&ran] { ran = true; });
  ASSERT_TRUE(thread.ok()) << thread.status();
  thread->join();
  EXPECT_TRUE(ran);
}

TEST(StartThread, SaysThatThereAreNoMore) {
  const ScarceThreads scarce(2);
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  absl::Status status;
  while (status.ok() && threads.size() < 100) {
    absl::StatusOr<std::thread> thread =
        StartThread("a test", [&over] { over.wait(false); });
    status = thread.status();
    if (thread.ok()) threads.push_back(*std::move(thread));
  }
  over = true;
  over.notify_all();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(threads.size(), 2);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.ToString(), HasSubstr("start a thread for a test"));
}

TEST(TestThreadCount, CountsThreadsByTheirNames) {
  EXPECT_EQ(TestThreadCount(), 0);
  absl::BlockingCounter named(2);
  absl::Notification end;
  const auto wait_as = [&](const char* name) {
    NameThread(name);
    named.DecrementCount();
    end.WaitForNotification();
  };
  std::thread handler([&] { wait_as(kHandlerThread); });
  std::thread other([&] { wait_as("other"); });
  named.Wait();
  EXPECT_EQ(TestThreadCount(), 1);
  end.Notify();
  handler.join();
  other.join();
  EXPECT_EQ(TestThreadCount(/*pid=*/1 << 30), 0);
}

TEST(ProcessThreadCountTest, CountsThreads) {
  // A sanitizer starts a thread of its own together with the first one.
  std::thread([] {}).join();
  const int64_t before = ProcessThreadCount();
  EXPECT_GE(before, 1);
  absl::Notification end;
  std::thread one([&] { end.WaitForNotification(); });
  std::thread other([&] { end.WaitForNotification(); });
  EXPECT_EQ(ProcessThreadCount(), before + 2);
  end.Notify();
  one.join();
  other.join();
}

TEST(UsableCpuCountTest, IsWhatTheThreadIsBoundTo) {
  EXPECT_GE(UsableCpuCount(), 1);
  // In a thread, so that nothing else in the process is bound.
  std::thread([] {
    const int here = sched_getcpu();
    ASSERT_GE(here, 0);
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(here, &cpus);
    ASSERT_EQ(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
    EXPECT_EQ(UsableCpuCount(), 1);
  }).join();
}

}  // namespace
}  // namespace distbench::base
