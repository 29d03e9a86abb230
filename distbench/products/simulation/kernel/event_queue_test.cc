// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/kernel/event_queue.h"

#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

using testing::ElementsAre;
using testing::IsNull;

std::vector<int64_t> TakeTimes(EventQueue& queue) {
  std::vector<int64_t> times_ns;
  while (queue.First() != nullptr) {
    times_ns.push_back(queue.TakeFirst().time_ns);
  }
  return times_ns;
}

TEST(EventQueueTest, IsEmptyAtFirst) {
  EventQueue queue;
  EXPECT_THAT(queue.First(), IsNull());
}

TEST(EventQueueTest, SortsByTime) {
  EventQueue queue;
  // In one slot, in the ring, and after it.
  for (const int64_t time_ns : {70'000, 5, 1'000'000'000, 3, 600, 4'000'000}) {
    queue.Add({.time_ns = time_ns});
  }
  EXPECT_THAT(TakeTimes(queue),
              ElementsAre(3, 5, 600, 70'000, 4'000'000, 1'000'000'000));
}

TEST(EventQueueTest, TheOrderDecidesBetweenEqualTimes) {
  EventQueue queue;
  for (const uint64_t order : {7, 1, 5}) {
    queue.Add({.time_ns = 1'000'000, .order = order});
  }
  EXPECT_EQ(queue.First()->order, 1u);
  EXPECT_EQ(queue.TakeFirst().order, 1u);
  EXPECT_EQ(queue.First()->order, 5u);
}

// Another thread may send what is due before all that is here.
TEST(EventQueueTest, TakesWhatIsDueBeforeTheFirst) {
  EventQueue queue;
  queue.Add({.time_ns = 5'000'000});
  EXPECT_EQ(queue.First()->time_ns, 5'000'000);
  queue.Add({.time_ns = 10});
  queue.Add({.time_ns = 2'000'000});
  EXPECT_THAT(TakeTimes(queue), ElementsAre(10, 2'000'000, 5'000'000));
}

// Adds and takes at random, as a simulation does: never before what was taken.
TEST(EventQueueTest, IsAlwaysSorted) {
  for (const int64_t mean_delay_ns : {1, 300, 20'000, 131'000, 5'000'000}) {
    std::mt19937_64 random(mean_delay_ns);
    EventQueue queue;
    std::set<std::pair<int64_t, uint64_t>> expected;
    int64_t now_ns = 0;
    for (uint64_t i = 0; i < 20'000; ++i) {
      const bool grows = i / 1000 % 2 == 0;
      if (expected.empty() || random() % 4 < (grows ? 3 : 1)) {
        const int64_t delay_ns = random() % (2 * mean_delay_ns);
        queue.Add({.time_ns = now_ns + delay_ns, .order = i});
        expected.emplace(now_ns + delay_ns, i);
        continue;
      }
      ASSERT_EQ(queue.First()->order, expected.begin()->second);
      const ScheduledEvent event = queue.TakeFirst();
      ASSERT_EQ(event.time_ns, expected.begin()->first);
      expected.erase(expected.begin());
      now_ns = event.time_ns;
    }
    for (const auto& [time_ns, order] : expected) {
      ASSERT_EQ(queue.First()->order, order);
      queue.TakeFirst();
    }
    EXPECT_THAT(queue.First(), IsNull());
  }
}

}  // namespace
}  // namespace distbench::simulation
