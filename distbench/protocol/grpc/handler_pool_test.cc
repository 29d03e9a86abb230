#include "distbench/protocol/grpc/handler_pool.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using Kind = HandlerPool::Kind;

constexpr absl::Duration kPatience = absl::Seconds(20);

std::unique_ptr<HandlerPool> MakePool(Kind kind, int size) {
  return HandlerPool::Make(kind, size).value();
}

// Says that it runs, and then waits until it may end.
class Blocker final : public HandlerPool::Task {
 public:
  void Run() override {
    running_.Notify();
    may_end_.WaitForNotification();
  }

  bool WaitUntilItRuns() {
    return running_.WaitForNotificationWithTimeout(kPatience);
  }
  void LetGo() { may_end_.Notify(); }

 private:
  absl::Notification running_;
  absl::Notification may_end_;
};

// Notes the thread that runs it, and its turn.
class Noter final : public HandlerPool::Task {
 public:
  explicit Noter(std::vector<Noter*>& order) : order_(order) {}
  void Run() override {
    order_.push_back(this);
    thread = std::this_thread::get_id();
    done.Notify();
  }

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
  ASSERT_TRUE(pool->Submit(first));
  ASSERT_TRUE(pool->Submit(second));
  // Both threads are taken.
  EXPECT_TRUE(order.empty());
  blockers[0].LetGo();
  second.done.WaitForNotification();
  EXPECT_EQ(order, (std::vector<Noter*>{&first, &second}));
  EXPECT_EQ(first.thread, second.thread);
  blockers[1].LetGo();
  EXPECT_EQ(pool->most_threads(), 2);
}

TEST(HandlerPoolTest, ElasticPoolsGrowWhenNoThreadIsFree) {
  constexpr int kBlocked = 20;
  std::vector<Blocker> blockers(kBlocked);
  const auto pool = MakePool(Kind::kElastic, 3);
  EXPECT_EQ(pool->most_threads(), 3);
  for (Blocker& blocker : blockers) ASSERT_TRUE(pool->Submit(blocker));
  for (Blocker& blocker : blockers) ASSERT_TRUE(blocker.WaitUntilItRuns());
  EXPECT_GE(pool->most_threads(), kBlocked);
  // Its first threads may not have been free yet when the first tasks came.
  EXPECT_LE(pool->most_threads(), kBlocked + 3);

  // Threads that are free again are used again.
  for (Blocker& blocker : blockers) blocker.LetGo();
  const int64_t threads = pool->most_threads();
  for (int i = 0; i < 100; ++i) {
    std::vector<Noter*> order;
    Noter task(order);
    ASSERT_TRUE(pool->Submit(task));
    task.done.WaitForNotification();
  }
  EXPECT_LE(pool->most_threads(), threads + 1);
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
  for (Blocker& blocker : blockers) blocker.LetGo();
}

TEST(HandlerPoolTest, RunsWhatWasSubmittedBeforeItEnds) {
  constexpr int kTasks = 1000;
  for (Kind kind : {Kind::kElastic, Kind::kSimple, Kind::kThreadPerTask}) {
    struct Counting final : HandlerPool::Task {
      void Run() override { ++*count; }
      std::atomic<int>* count = nullptr;
    };
    std::atomic<int> count = 0;
    std::vector<Counting> tasks(kTasks);
    {
      const auto pool = MakePool(kind, 2);
      for (Counting& task : tasks) {
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
    void Run() override { counter->DecrementCount(); }
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
        task.counter = &counter;
        ASSERT_TRUE(pool->Submit(task));
      }
    });
  }
  for (std::thread& submitter : submitters) submitter.join();
  counter.Wait();
}

}  // namespace
}  // namespace distbench
