#include "distbench/base/start_thread.h"

#include <atomic>
#include <vector>

#include "distbench/base/testing/scarce_memory.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
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

}  // namespace
}  // namespace distbench
