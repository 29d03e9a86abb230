#include "distbench/base/thread_count.h"

#include <thread>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

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

}  // namespace
}  // namespace distbench
