#include "distbench/protocol/tcp/deadline_queue.h"

#include "gtest/gtest.h"

namespace distbench {
namespace {

bool AllAreLive(uint64_t) { return true; }

TEST(DeadlineQueueTest, PopsTheEarliestFirst) {
  DeadlineQueue queue;
  EXPECT_EQ(queue.next_due_ns(), DeadlineQueue::kNever);
  for (int64_t due_ns : {50, 10, 40, 20, 30}) {
    queue.Add(due_ns, due_ns, AllAreLive);
  }
  for (uint64_t expected : {10, 20, 30, 40, 50}) {
    EXPECT_EQ(queue.next_due_ns(), expected);
    EXPECT_EQ(queue.Pop(), expected);
  }
  EXPECT_EQ(queue.next_due_ns(), DeadlineQueue::kNever);
}

TEST(DeadlineQueueTest, ForgetsEndedCallsOnceThereAreMany) {
  constexpr int kCalls = 1'000'000;
  constexpr int kInFlight = 100;
  DeadlineQueue queue;
  int asked = 0;
  int last = 0;
  const auto is_live = [&](uint64_t id) {
    ++asked;
    return id + kInFlight > static_cast<uint64_t>(last);
  };
  for (last = 0; last < kCalls; ++last) queue.Add(last, last, is_live);
  int left = 0;
  while (queue.next_due_ns() != DeadlineQueue::kNever) {
    queue.Pop();
    ++left;
  }
  EXPECT_LT(left, 2000);
  EXPECT_LT(asked, 2 * kCalls);
}

}  // namespace
}  // namespace distbench
