#include "distbench/base/command_queue.h"

#include <memory>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

absl::Duration Never() { return absl::InfiniteDuration(); }

TEST(CommandQueueTest, DoesTasksInOrderUntilItIsClosed) {
  CommandQueue queue;
  std::vector<int> done;
  queue.Push([&] { done.push_back(1); });
  queue.Push([&] {
    done.push_back(2);
    queue.Close();
  });
  queue.Push([&] { done.push_back(3); });
  queue.RunUntilClosed(Never, [] {});
  EXPECT_EQ(done, std::vector<int>({1, 2}));
}

// Only sanitizers can detect a failure here.
TEST(CommandQueueTest, TheThreadThatCloseWakesMayDestroyIt) {
  for (int i = 0; i < 2'000; ++i) {
    auto queue = std::make_unique<CommandQueue>();
    std::thread closer([&queue = *queue] { queue.Close(); });
    queue->RunUntilClosed(Never, [] {});
    queue = nullptr;
    closer.join();
  }
}

}  // namespace
}  // namespace distbench
