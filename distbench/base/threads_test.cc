// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/threads.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
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

class ThreadRoomTest : public testing::Test {
 protected:
  ThreadRoomTest() : root_(testing::TempDir() + "/thread_room_test") {
    std::filesystem::remove_all(root_);
  }

  void Write(const std::string& path, const std::string& content) {
    const std::filesystem::path file(root_ + path);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << content;
  }

  const std::string root_;
};

TEST_F(ThreadRoomTest, IsThereOnThisHost) {
  EXPECT_GT(ReadThreadRoom("").left, 0);
  EXPECT_GE(ReadThreadRefusals(""), 0);
}

TEST_F(ThreadRoomTest, IsNotLimitedByWhatIsNotKnown) {
  EXPECT_EQ(ReadThreadRoom(root_).limit, "");
  EXPECT_GT(ReadThreadRoom(root_).left, 1'000'000'000);
  EXPECT_EQ(ReadThreadRefusals(root_), 0);
}

TEST_F(ThreadRoomTest, TheTightestControlGroupCounts) {
  Write("/proc/self/cgroup", "0::/slice/job\n");
  Write("/sys/fs/cgroup/slice/job/pids.max", "max\n");
  Write("/sys/fs/cgroup/slice/job/pids.current", "40\n");
  EXPECT_EQ(ReadThreadRoom(root_).limit, "");
  Write("/sys/fs/cgroup/slice/pids.max", "100\n");
  Write("/sys/fs/cgroup/slice/pids.current", "90\n");
  EXPECT_EQ(ReadThreadRoom(root_).left, 10);
  EXPECT_THAT(ReadThreadRoom(root_).limit,
              HasSubstr("allows 100 threads (pids.max; under systemd "
                        "TasksMax), and has 90"));
  Write("/sys/fs/cgroup/slice/job/pids.max", "30\n");
  EXPECT_EQ(ReadThreadRoom(root_).left, 0);
}

TEST_F(ThreadRoomTest, SoDoesOneOfVersion1) {
  Write("/proc/self/cgroup", "8:pids:/docker/0123\n0::/\n");
  Write("/sys/fs/cgroup/pids/pids.max", "100\n");
  Write("/sys/fs/cgroup/pids/pids.current", "95\n");
  EXPECT_EQ(ReadThreadRoom(root_).left, 5);
}

TEST_F(ThreadRoomTest, TheKernelHasSoManyForAll) {
  Write("/proc/sys/kernel/threads-max", "1000\n");
  Write("/proc/loadavg", "0.24 0.15 0.10 2/980 12345\n");
  EXPECT_EQ(ReadThreadRoom(root_).left, 20);
  EXPECT_THAT(ReadThreadRoom(root_).limit, HasSubstr("kernel.threads-max"));
}

TEST_F(ThreadRoomTest, AUserWhoIsNotRootHasALimit) {
  Write("/proc/1/status", "Name:\tinit\nUid:\t0\t0\t0\t0\nThreads:\t9\n");
  Write("/proc/7/status", "Name:\ta\nUid:\t77\t77\t77\t77\nThreads:\t4\n");
  Write("/proc/8/status", "Name:\tb\nUid:\t77\t77\t77\t77\nThreads:\t3\n");
  if (getuid() != 0) GTEST_SKIP() << "only root can become another user";
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit = {.rlim_cur = 20, .rlim_max = 20};
    setrlimit(RLIMIT_NPROC, &limit);
    // Only the real user ID counts; files are read as root.
    if (setresuid(77, 0, 0) != 0) _exit(99);
    const ThreadRoom room = ReadThreadRoom(root_);
    _exit(room.left);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 20 - 4 - 3);
  EXPECT_EQ(ReadThreadRoom(root_).limit, "");
}

TEST_F(ThreadRoomTest, RefusalsAreCounted) {
  Write("/proc/self/cgroup", "0::/job\n");
  Write("/sys/fs/cgroup/job/pids.events", "max 3\n");
  Write("/sys/fs/cgroup/pids.events", "max 4\n");
  EXPECT_EQ(ReadThreadRefusals(root_), 7);
}

}  // namespace
}  // namespace distbench::base
