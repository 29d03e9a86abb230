// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/linked_queue.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::base {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Item {
  int number = 0;
  Item* previous = nullptr;
  Item* next = nullptr;
};

// Empties the queue.
std::vector<int> Numbers(LinkedQueue<Item>& queue) {
  std::vector<int> numbers;
  while (Item* const first = queue.front()) {
    queue.Remove(*first);
    numbers.push_back(first->number);
  }
  EXPECT_TRUE(queue.empty());
  return numbers;
}

TEST(LinkedQueueTest, FirstInFirstOut) {
  Item items[] = {{1}, {2}, {3}};
  LinkedQueue<Item> queue;
  EXPECT_THAT(Numbers(queue), IsEmpty());
  for (Item& item : items) queue.Push(item);
  EXPECT_FALSE(queue.empty());
  EXPECT_THAT(Numbers(queue), ElementsAre(1, 2, 3));
}

TEST(LinkedQueueTest, AnyMayLeave) {
  for (int leaving = 0; leaving < 3; ++leaving) {
    Item items[] = {{0}, {1}, {2}};
    LinkedQueue<Item> queue;
    for (Item& item : items) queue.Push(item);
    queue.Remove(items[leaving]);
    queue.Push(items[leaving]);
    EXPECT_THAT(Numbers(queue), ElementsAre((leaving == 0) ? 1 : 0,
                                            (leaving == 2) ? 1 : 2, leaving));
  }
}

}  // namespace
}  // namespace distbench::base
