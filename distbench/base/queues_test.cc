// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/queues.h"

#include <memory>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace distbench::base {
namespace {

struct Node {
  int producer = 0;
  int number = 0;
  Node* next = nullptr;
};

TEST(MpscQueueTest, TakesInOrderOfPushing) {
  MpscQueue<Node> queue;
  Node nodes[3];
  for (int i = 0; i < 3; ++i) {
    nodes[i].number = i;
    EXPECT_EQ(queue.Push(&nodes[i]), i == 0) << "only the first finds it empty";
  }
  int expected = 0;
  for (Node* node = queue.TakeAll(); node != nullptr; node = node->next) {
    EXPECT_EQ(node->number, expected++);
  }
  EXPECT_EQ(expected, 3);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.TakeAll(), nullptr);
}

TEST(MpscQueueTest, ConcurrentPushersLoseNothingAndKeepTheirOrder) {
  constexpr int kProducers = 4;
  constexpr int kPerProducer = 20'000;
  MpscQueue<Node> queue;
  std::vector<std::vector<Node>> nodes(kProducers,
                                       std::vector<Node>(kPerProducer));
  std::vector<std::thread> producers;
  for (int p = 0; p < kProducers; ++p) {
    producers.emplace_back([&, p] {
      for (int i = 0; i < kPerProducer; ++i) {
        nodes[p][i].producer = p;
        nodes[p][i].number = i;
        queue.Push(&nodes[p][i]);
      }
    });
  }
  std::vector<int> next(kProducers, 0);
  for (int taken = 0; taken < kProducers * kPerProducer;) {
    for (Node* node = queue.TakeAll(); node != nullptr; node = node->next) {
      ASSERT_EQ(node->number, next[node->producer]++);
      ++taken;
    }
  }
  for (std::thread& producer : producers) producer.join();
  EXPECT_TRUE(queue.empty());
}

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
}  // namespace distbench::base
