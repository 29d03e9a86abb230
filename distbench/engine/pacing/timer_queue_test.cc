// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/pacing/timer_queue.h"

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

TEST(TimerQueueTest, PopsOnlyWhatIsDue) {
  TimerQueue queue;
  Timer early, late, never_armed;
  queue.Cancel(never_armed);
  queue.Arm(late, 20);
  queue.Arm(early, 10);
  EXPECT_EQ(queue.next_due_ns(), 10);
  EXPECT_EQ(queue.PopDue(9), nullptr);
  EXPECT_EQ(queue.PopDue(10), &early);
  EXPECT_FALSE(early.armed());
  EXPECT_EQ(queue.PopDue(19), nullptr);
  EXPECT_EQ(queue.PopDue(100), &late);
  EXPECT_EQ(queue.next_due_ns(), TimerQueue::kNever);
  EXPECT_EQ(queue.Pop(), nullptr);
}

// Random arming and cancelling, compared with a sorted set.
TEST(TimerQueueTest, AgreesWithASortedSet) {
  std::mt19937 random(1);
  std::vector<Timer> timers(200);
  TimerQueue queue;
  std::multiset<int64_t> expected;
  for (int step = 0; step < 20'000; ++step) {
    Timer& timer = timers[random() % timers.size()];
    if (timer.armed()) {
      expected.erase(expected.find(timer.due_ns));
      queue.Cancel(timer);
    } else {
      queue.Arm(timer, random() % 1000);
      expected.insert(timer.due_ns);
    }
    ASSERT_EQ(queue.next_due_ns(),
              expected.empty() ? TimerQueue::kNever : *expected.begin());
  }
  while (Timer* timer = queue.Pop()) {
    ASSERT_EQ(timer->due_ns, *expected.begin());
    expected.erase(expected.begin());
  }
  EXPECT_TRUE(expected.empty());
}

}  // namespace
}  // namespace distbench::engine
