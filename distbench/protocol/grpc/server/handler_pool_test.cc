// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/server/handler_pool.h"

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using Kind = HandlerPool::Kind;

constexpr absl::Duration kPatience = absl::Seconds(20);

std::unique_ptr<HandlerPool> MakePool(Kind kind, int size) {
  return HandlerPool::Make(kind, size).value();
}

// Reports that it runs; the test finishes it.
class Blocker final : public HandlerPool::Task {
 public:
  void Run() override { running_.Notify(); }

  bool runs() const { return running_.HasBeenNotified(); }
  bool WaitUntilItRuns() {
    return running_.WaitForNotificationWithTimeout(kPatience);
  }

 private:
  absl::Notification running_;
};

// Records its thread and its place in the order; finishes at once.
class Noter final : public HandlerPool::Task {
 public:
  explicit Noter(std::vector<Noter*>& order) : order_(order) {}
  void Run() override {
    order_.push_back(this);
    thread = std::this_thread::get_id();
    pool->Finish(occupied());
    done.Notify();
  }

  HandlerPool* pool = nullptr;
  std::thread::id thread;
  absl::Notification done;

 private:
  std::vector<Noter*>& order_;
};

TEST(HandlerPoolTest, RunsTasksOnThreadsOfItsOwn) {
  for (Kind kind : {Kind::kElastic, Kind::kSimple, Kind::kThreadPerTask}) {
    std::vector<Noter*> order;
    Noter task(order);
    const auto pool = MakePool(kind, 1);
    task.pool = pool.get();
    ASSERT_TRUE(pool->Submit(task));
    task.done.WaitForNotification();
    EXPECT_NE(task.thread, std::this_thread::get_id());
  }
}

TEST(HandlerPoolTest, SimplePoolsKeepTheirSizeAndTheOrder) {
  Blocker blockers[2];
  std::vector<Noter*> order;
  Noter first(order);
  Noter second(order);
  const auto pool = MakePool(Kind::kSimple, 2);
  for (Blocker& blocker : blockers) {
    ASSERT_TRUE(pool->Submit(blocker));
    ASSERT_TRUE(blocker.WaitUntilItRuns());
  }
  first.pool = second.pool = pool.get();
  ASSERT_TRUE(pool->Submit(first));
  ASSERT_TRUE(pool->Submit(second));
  // Both threads are taken.
  EXPECT_TRUE(order.empty());
  pool->Finish(blockers[0].occupied());
  second.done.WaitForNotification();
  EXPECT_EQ(order, (std::vector<Noter*>{&first, &second}));
  pool->Finish(blockers[1].occupied());
  EXPECT_EQ(pool->most_threads(), 2);
}

TEST(HandlerPoolTest, AThreadIsFreeWhenItsTaskIsFinished) {
  constexpr int kTasks = 50;
  std::vector<Blocker> tasks(kTasks);
  const auto pool = MakePool(Kind::kSimple, 1);
  for (Blocker& task : tasks) ASSERT_TRUE(pool->Submit(task));
  for (int i = 0; i < kTasks; ++i) {
    ASSERT_TRUE(tasks[i].WaitUntilItRuns());
    // Run() has returned or is about to; the thread is occupied nevertheless.
    const bool next_runs = i + 1 < kTasks && tasks[i + 1].runs();
    EXPECT_FALSE(next_runs);
    pool->Finish(tasks[i].occupied());
  }
}

TEST(HandlerPoolTest, WakesTheThreadThatHasSleptLast) {
  constexpr int kThreads = 8;
  const auto pool = MakePool(Kind::kSimple, kThreads);
  const absl::Time give_up = absl::Now() + kPatience;
  // Threads that have just started take tasks without being woken, so the first
  // rounds may use all of them. Taking turns would use all of them forever.
  std::set<std::thread::id> threads;
  do {
    ASSERT_LT(absl::Now(), give_up);
    threads.clear();
    for (int i = 0; i < 100; ++i) {
      std::vector<Noter*> order;
      Noter task(order);
      task.pool = pool.get();
      ASSERT_TRUE(pool->Submit(task));
      task.done.WaitForNotification();
      threads.insert(task.thread);
    }
  } while (threads.size() == kThreads);
}

TEST(HandlerPoolTest, ElasticPoolsGrowWhenNoThreadIsFree) {
  constexpr int kBlocked = 20;
  std::vector<Blocker> blockers(kBlocked);
  const auto pool = MakePool(Kind::kElastic, 3);
  EXPECT_EQ(pool->most_threads(), 3);
  for (Blocker& blocker : blockers) ASSERT_TRUE(pool->Submit(blocker));
  for (Blocker& blocker : blockers) ASSERT_TRUE(blocker.WaitUntilItRuns());
  EXPECT_EQ(pool->most_threads(), kBlocked);

  // Threads that have become free are reused.
  for (Blocker& blocker : blockers) pool->Finish(blocker.occupied());
  for (int i = 0; i < 100; ++i) {
    std::vector<Noter*> order;
    Noter task(order);
    task.pool = pool.get();
    ASSERT_TRUE(pool->Submit(task));
    task.done.WaitForNotification();
  }
  EXPECT_EQ(pool->most_threads(), kBlocked);
}

TEST(HandlerPoolTest, ThreadPerTaskStartsOneForEach) {
  constexpr int kBlocked = 10;
  std::vector<Blocker> blockers(kBlocked);
  const auto pool = MakePool(Kind::kThreadPerTask, 1);
  EXPECT_EQ(pool->most_threads(), 0);
  for (int i = 0; i < kBlocked; ++i) {
    ASSERT_TRUE(pool->Submit(blockers[i]));
    EXPECT_EQ(pool->most_threads(), i + 1);
  }
  for (Blocker& blocker : blockers) ASSERT_TRUE(blocker.WaitUntilItRuns());
  for (Blocker& blocker : blockers) pool->Finish(blocker.occupied());
}

TEST(HandlerPoolTest, RunsWhatWasSubmittedBeforeItEnds) {
  constexpr int kTasks = 1000;
  for (Kind kind : {Kind::kElastic, Kind::kSimple, Kind::kThreadPerTask}) {
    struct Counting final : HandlerPool::Task {
      void Run() override {
        ++*count;
        pool->Finish(occupied());
      }
      HandlerPool* pool = nullptr;
      std::atomic<int>* count = nullptr;
    };
    std::atomic<int> count = 0;
    std::vector<Counting> tasks(kTasks);
    {
      const auto pool = MakePool(kind, 2);
      for (Counting& task : tasks) {
        task.pool = pool.get();
        task.count = &count;
        ASSERT_TRUE(pool->Submit(task));
      }
    }
    EXPECT_EQ(count, kTasks);
  }
}

TEST(HandlerPoolTest, ManyMaySubmitAtATime) {
  constexpr int kSubmitters = 4;
  constexpr int kTasks = 2000;
  struct Counting final : HandlerPool::Task {
    void Run() override {
      pool->Finish(occupied());
      counter->DecrementCount();
    }
    HandlerPool* pool = nullptr;
    absl::BlockingCounter* counter = nullptr;
  };
  absl::BlockingCounter counter(kSubmitters * kTasks);
  std::vector<std::vector<Counting>> tasks(kSubmitters,
                                           std::vector<Counting>(kTasks));
  const auto pool = MakePool(Kind::kElastic, 2);
  std::vector<std::thread> submitters;
  for (std::vector<Counting>& own : tasks) {
    submitters.emplace_back([&] {
      for (Counting& task : own) {
        task.pool = pool.get();
        task.counter = &counter;
        ASSERT_TRUE(pool->Submit(task));
      }
    });
  }
  for (std::thread& submitter : submitters) submitter.join();
  counter.Wait();
}

}  // namespace
}  // namespace distbench::protocol
