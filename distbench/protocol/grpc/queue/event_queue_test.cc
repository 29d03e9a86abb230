// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/queue/event_queue.h"

#include <grpc/slice.h>
#include <grpc/support/time.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "distbench/base/clock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

TEST(TurnTest, AWorkerThatIsAwakeLendsNothing) {
  Turn turn;
  EXPECT_TRUE(turn.worker_is_awake());
  EXPECT_FALSE(turn.must_wake_worker());
  EXPECT_FALSE(turn.TryBorrow());
}

TEST(TurnTest, AWorkerThatSleepsLendsNothingUnlessItSaysSo) {
  Turn turn;
  turn.Sleep(/*lends=*/false);
  EXPECT_FALSE(turn.worker_is_awake());
  EXPECT_TRUE(turn.must_wake_worker());
  EXPECT_FALSE(turn.TryBorrow());
  turn.TakeBack();
  EXPECT_TRUE(turn.worker_is_awake());
}

TEST(TurnTest, LendsToOneAtATime) {
  Turn turn;
  turn.Sleep(/*lends=*/true);
  EXPECT_FALSE(turn.must_wake_worker());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(turn.TryBorrow());
    EXPECT_FALSE(turn.TryBorrow());
    EXPECT_FALSE(turn.must_wake_worker());
    EXPECT_FALSE(turn.worker_is_awake());
    turn.GiveBack();
  }
  turn.TakeBack();
  EXPECT_FALSE(turn.TryBorrow());
}

TEST(TurnTest, TakingBackWaitsForTheBorrowerOnly) {
  for (int i = 0; i < 1000; ++i) {
    Turn turn;
    std::atomic<bool> taken = false;
    bool given = false;  // not guarded by a lock
    turn.Sleep(/*lends=*/true);
    ASSERT_TRUE(turn.TryBorrow());
    std::thread worker([&] {
      turn.TakeBack();
      EXPECT_TRUE(given);
      taken = true;
    });
    if (i % 2 == 0) std::this_thread::yield();
    EXPECT_FALSE(taken);
    given = true;
    turn.GiveBack();
    // Once the worker waits, it goes before all others.
    const bool borrowed = turn.TryBorrow();
    if (borrowed) turn.GiveBack();
    worker.join();
    EXPECT_TRUE(turn.worker_is_awake());
  }
}

TEST(TurnTest, OneThreadAtATimeHasIt) {
  constexpr int kRounds = 2000;
  Turn turn;
  int sum = 0;  // not guarded by a lock
  std::atomic<bool> stopped = false;
  std::atomic<int> added = 0;
  std::vector<std::thread> borrowers;
  for (int i = 0; i < 3; ++i) {
    borrowers.emplace_back([&] {
      while (!stopped) {
        if (!turn.TryBorrow()) {
          std::this_thread::yield();
          continue;
        }
        ++sum;
        ++added;
        turn.GiveBack();
      }
    });
  }
  for (int i = 0; i < kRounds; ++i) {
    turn.Sleep(/*lends=*/true);
    if (i % 16 == 0) std::this_thread::yield();
    turn.TakeBack();
    ++sum;
  }
  stopped = true;
  for (std::thread& borrower : borrowers) borrower.join();
  EXPECT_EQ(sum, added + kRounds);
}

constexpr int64_t kNever = INT64_MAX;
constexpr int64_t kHourNs = int64_t{3600} * 1'000'000'000;

// The parameter says whether the queue is in use.
class EventQueueTest : public testing::TestWithParam<bool> {
 protected:
  EventQueueTest() {
    grpc_init();
    timer_ = WakeTimer::Make().value();
    queue_ = std::make_unique<EventQueue>(timer_->NewAlarm().value(),
                                          /*spin_ns=*/0);
    MayUse(*queue_);
  }
  ~EventQueueTest() override {
    queue_.reset();
    timer_.reset();
    grpc_shutdown();
  }

  static void MayUse(EventQueue& queue) {
    if (GetParam()) queue.get();
  }

  NoEvents events_;
  std::unique_ptr<WakeTimer> timer_;
  std::unique_ptr<EventQueue> queue_;
};

TEST_P(EventQueueTest, DoesNotWaitForThePast) {
  for (int64_t deadline_ns : {INT64_MIN, int64_t{0}, base::NowNs()}) {
    queue_->Poll(deadline_ns, events_);
  }
}

TEST_P(EventQueueTest, WakesEndOnePollHoweverManyThereAre) {
  for (int i = 0; i < 10; ++i) queue_->Wake();
  queue_->Poll(kNever, events_);
  // Nothing is left, so the next poll waits until its deadline.
  const int64_t deadline_ns = base::NowNs() + 3'000'000;
  queue_->Poll(deadline_ns, events_);
  EXPECT_GE(base::NowNs(), deadline_ns - 100'000);
}

TEST_P(EventQueueTest, IsWokenByOtherThreads) {
  constexpr int kRounds = 2000;
  std::atomic<int> asked = 0;
  std::atomic<int> answered = 0;
  std::thread waker([&] {
    for (int i = 1; i <= kRounds; ++i) {
      asked = i;
      queue_->Wake();
      while (answered < i) std::this_thread::yield();
    }
  });
  // A lost wake-up would stop this loop for good.
  while (answered < kRounds) {
    queue_->Poll(kNever, events_);
    answered = asked.load();
  }
  waker.join();
}

TEST_P(EventQueueTest, ReturnsAboutAtItsDeadline) {
  for (int64_t wait_ns : {10'000, 100'000, 1'000'000, 5'000'000}) {
    const int64_t deadline_ns = base::NowNs() + wait_ns;
    int polls = 0;
    while (base::NowNs() < deadline_ns) {
      queue_->Poll(deadline_ns, events_);
      ++polls;
    }
    // Woken ahead of time, then polling to the end; no busy loop around it.
    EXPECT_LE(polls, 5) << wait_ns;
  }
}

TEST_P(EventQueueTest, DeadlinesMayMoveInBothDirections) {
  queue_->Wake();
  queue_->Poll(base::NowNs() + kHourNs, events_);
  const int64_t deadline_ns = base::NowNs() + 1'000'000;
  while (base::NowNs() < deadline_ns) queue_->Poll(deadline_ns, events_);
  queue_->Wake();
  queue_->Poll(base::NowNs() + kHourNs, events_);
}

TEST_P(EventQueueTest, AnAlarmThatIsOverDoesNotKeepPollsFromWaiting) {
  // The alarm goes off while the worker is busy elsewhere.
  std::thread waker([&] { queue_->Wake(); });
  queue_->Poll(base::NowNs() + 200'000, events_);
  waker.join();
  const int64_t busy_until_ns = base::NowNs() + 2'000'000;
  while (base::NowNs() < busy_until_ns) {
  }
  for (int64_t deadline_ns : {base::NowNs() + kHourNs, kNever}) {
    // If polls did not wait, they would finish before they are woken.
    std::atomic<bool> stop = false;
    int polls = 0;
    std::thread stopper([&] {
      const int64_t until_ns = base::NowNs() + 3'000'000;
      while (base::NowNs() < until_ns) std::this_thread::yield();
      stop = true;
      queue_->Wake();
    });
    while (!stop) {
      queue_->Poll(deadline_ns, events_);
      ++polls;
    }
    stopper.join();
    EXPECT_LE(polls, 5);
    queue_->Poll(0, events_);
  }
}

// Counts its completions, and records which thread ran them.
class Posted final : public Completion {
 public:
  void OnComplete(bool ok, TransportEvents&) override {
    EXPECT_TRUE(ok);
    thread = std::this_thread::get_id();
    ++count;
  }

  std::atomic<int> count = 0;
  std::atomic<std::thread::id> thread;
};

TEST_P(EventQueueTest, WhatOthersPostRunsOnThePollingThread) {
  constexpr int kRounds = 2000;
  Posted posted;
  std::atomic<int> run = 0;
  std::thread poster([&] {
    for (int i = 1; i <= kRounds; ++i) {
      queue_->Post(posted);
      while (run < i) std::this_thread::yield();
    }
  });
  // A lost message would stop this loop for good.
  while (run < kRounds) {
    queue_->Poll(kNever, events_);
    run = posted.count.load();
  }
  poster.join();
  EXPECT_EQ(posted.count, kRounds);
  EXPECT_EQ(posted.thread, std::this_thread::get_id());
}

TEST_P(EventQueueTest, RunsABoundedNumberOfPostedPerPollInTheirOrder) {
  constexpr int kPosted = 200;
  std::vector<Posted> posted(kPosted);
  for (Posted& completion : posted) queue_->Post(completion);
  int polls = 0;
  while (posted.back().count == 0) {
    queue_->Poll(kNever, events_);
    ++polls;
  }
  EXPECT_GE(polls, kPosted / 64);
  for (const Posted& completion : posted) EXPECT_EQ(completion.count, 1);
}

TEST_P(EventQueueTest, MayEndAsSoonAsTheLastPostedHasRun) {
  for (int round = 0; round < 2000; ++round) {
    EventQueue queue(timer_->NewAlarm().value(), /*spin_ns=*/0);
    MayUse(queue);
    Posted posted;
    std::thread poster([&] { queue.Post(posted); });
    while (posted.count == 0) queue.Poll(kNever, events_);
    // Before it is certain that Post() has returned.
    queue.DrainForever(events_);
    poster.join();
  }
}

TEST_P(EventQueueTest, MayEndWhileItsAlarmGoesOff) {
  constexpr int kRounds = 3000;
  constexpr int64_t kWokenAheadNs = 50'000;
  const std::unique_ptr<WakeTimer> other_timer = WakeTimer::Make().value();
  for (int round = 0; round < kRounds; ++round) {
    EventQueue queue(timer_->NewAlarm().value(), /*spin_ns=*/0);
    MayUse(queue);
    {
      // Its own alarm and another thread wake it at about the same time; the
      // second of them finds it on its way out.
      const int64_t wake_ns = base::NowNs() + 60'000 + round % 32 * 1000;
      const auto other = other_timer->NewAlarm().value();
      other->CallBack([&] { queue.Wake(); });
      other->Set(base::NowNs() + 70'000);
      queue.Poll(wake_ns + kWokenAheadNs, events_);
    }
    if (round % 2 == 0) queue.DrainForever(events_);
  }
}

// Lends the worker's turns and records what they do.
class LendingEvents final : public TransportEvents {
 public:
  void OnDone(ClientCall*) override {}
  void OnRequest(ServerCall*) override {}
  bool LendsTurns() const override { return true; }
  int64_t EndBorrowedTurn() override {
    ++turns;
    thread = std::this_thread::get_id();
    return on_turn();
  }

  std::function<int64_t()> on_turn = [] { return kNever; };
  int turns = 0;
  std::thread::id thread;
};

// A worker whose thread only polls, with turns to lend.
class LendingTest : public EventQueueTest {
 protected:
  void StartWorker() {
    worker_ = std::thread([this] {
      while (!stopped_) {
        queue_->Poll(deadline_ns_, lending_);
        ++polls_;
      }
    });
  }
  ~LendingTest() override {
    stopped_ = true;
    queue_->Wake();
    worker_.join();
  }

  // Posts until a turn is borrowed for that, because the worker's thread may be
  // awake now and then. Returns whether it was in time.
  bool PostUntilBorrowed(Posted& posted) {
    const int64_t give_up_ns = base::NowNs() + 20'000'000'000;
    while (base::NowNs() < give_up_ns) {
      const int before = posted.count;
      queue_->Post(posted);
      while (posted.count == before) std::this_thread::yield();
      if (posted.thread == std::this_thread::get_id()) return true;
    }
    return false;
  }

  LendingEvents lending_;
  std::atomic<int64_t> deadline_ns_ = kNever;
  std::atomic<int> polls_ = 0;
  std::atomic<bool> stopped_ = false;
  std::thread worker_;
};

TEST_P(LendingTest, WhoPostsRunsTheTurnOfASleepingWorker) {
  StartWorker();
  Posted posted;
  ASSERT_TRUE(PostUntilBorrowed(posted));
  EXPECT_EQ(lending_.thread, std::this_thread::get_id());
  // From here on the worker sleeps and is not woken.
  const int polls = polls_;
  const int turns = lending_.turns;
  for (int i = 0; i < 100; ++i) {
    queue_->Post(posted);
    EXPECT_EQ(posted.thread, std::this_thread::get_id());
  }
  queue_->RunTurnOrWake();
  EXPECT_EQ(lending_.turns, turns + 101);
  EXPECT_EQ(polls_, polls);
}

TEST_P(LendingTest, TheWorkerIsWokenIfItHasToDoSomething) {
  lending_.on_turn = [] { return 0; };
  StartWorker();
  Posted posted;
  const int polls = polls_;
  ASSERT_TRUE(PostUntilBorrowed(posted));
  while (polls_ == polls) std::this_thread::yield();
}

TEST_P(LendingTest, TheWorkerIsWokenAtAnEarlierDeadline) {
  constexpr int64_t kEarlierNs = 5'000'000;
  deadline_ns_ = base::NowNs() + kHourNs;
  StartWorker();
  Posted posted;
  ASSERT_TRUE(PostUntilBorrowed(posted));
  const int polls = polls_;
  int64_t due_ns = 0;
  lending_.on_turn = [&] { return due_ns = base::NowNs() + kEarlierNs; };
  queue_->Post(posted);
  while (polls_ == polls) std::this_thread::yield();
  // It is woken ahead of time, and would poll for the rest.
  EXPECT_GE(base::NowNs(), due_ns - kEarlierNs / 2);
}

TEST_P(LendingTest, WakingReachesTheWorkerItself) {
  StartWorker();
  Posted posted;
  ASSERT_TRUE(PostUntilBorrowed(posted));
  for (int i = 0; i < 100; ++i) {
    const int polls = polls_;
    queue_->Wake();
    while (polls_ == polls) std::this_thread::yield();
  }
}

TEST_P(LendingTest, NobodyRunsTurnsForEver) {
  StartWorker();
  Posted posted;
  ASSERT_TRUE(PostUntilBorrowed(posted));
  // Each turn posts the next one.
  lending_.on_turn = [&] {
    queue_->Post(posted);
    return kNever;
  };
  const int turns = lending_.turns;
  const int count = posted.count;
  queue_->Post(posted);
  const int borrowed = lending_.turns - turns;
  EXPECT_GT(borrowed, 1);
  // The rest is left to the worker.
  while (posted.count <= count + borrowed) std::this_thread::yield();
  EXPECT_EQ(posted.thread, worker_.get_id());
}

TEST_P(LendingTest, OneThreadAtATimeHasTheTurn) {
  constexpr int kPosters = 4;
  constexpr int kRounds = 5000;
  int sum = 0;  // not guarded by a lock
  class Adding final : public Completion {
   public:
    explicit Adding(int& sum) : sum_(sum) {}
    void OnComplete(bool, TransportEvents&) override {
      ++sum_;
      done = true;
    }
    std::atomic<bool> done = false;

   private:
    int& sum_;
  };
  StartWorker();
  std::vector<std::thread> posters;
  for (int i = 0; i < kPosters; ++i) {
    posters.emplace_back([&, i] {
      Adding adding(sum);
      for (int round = 0; round < kRounds; ++round) {
        adding.done = false;
        queue_->Post(adding);
        // The worker gets some turns as well.
        if (i == 0 && round % 16 == 0) queue_->Wake();
        while (!adding.done) std::this_thread::yield();
      }
    });
  }
  for (std::thread& poster : posters) poster.join();
  EXPECT_EQ(sum, kPosters * kRounds);
}

TEST_P(LendingTest, TurnsAreNotLentAfterTheEndOfThat) {
  queue_->StopLending();
  StartWorker();
  Posted posted;
  for (int i = 1; i <= 100; ++i) {
    queue_->Post(posted);
    while (posted.count < i) std::this_thread::yield();
    EXPECT_EQ(posted.thread, worker_.get_id());
  }
  EXPECT_EQ(lending_.turns, 0);
}

// Completes at once each time it is started.
class EmptyBatch final : public Completion {
 public:
  explicit EmptyBatch(grpc_completion_queue* queue) {
    grpc_channel* channel =
        grpc_lame_client_channel_create("test", GRPC_STATUS_CANCELLED, "");
    call_ = grpc_channel_create_call(
        channel, nullptr, GRPC_PROPAGATE_DEFAULTS, queue,
        grpc_slice_from_static_string("/test"), nullptr,
        gpr_inf_future(GPR_CLOCK_MONOTONIC), nullptr);
    grpc_channel_destroy(channel);
  }
  ~EmptyBatch() { grpc_call_unref(call_); }

  void Start() {
    ASSERT_EQ(grpc_call_start_batch(call_, nullptr, 0,
                                    static_cast<Completion*>(this), nullptr),
              GRPC_CALL_OK);
  }
  void OnComplete(bool ok, TransportEvents&) override {
    EXPECT_TRUE(ok);
    ++count;
  }

  std::atomic<int> count = 0;

 private:
  grpc_call* call_;
};

TEST_P(LendingTest, AQueueThatComesIntoUseIsPolled) {
  StartWorker();
  Posted posted;
  ASSERT_TRUE(PostUntilBorrowed(posted));
  // The worker may have this turn, and has others until it has ended: after
  // this function.
  struct FirstTurn {
    std::unique_ptr<EmptyBatch> batch;
    std::atomic<bool> has_begun = false;
  };
  const auto first = std::make_shared<FirstTurn>();
  lending_.on_turn = [this, first] {
    if (first->has_begun) return kNever;
    first->batch = std::make_unique<EmptyBatch>(queue_->get());
    first->batch->Start();
    first->has_begun = true;
    return kNever;
  };
  queue_->Post(posted);
  while (!first->has_begun || first->batch->count == 0) {
    std::this_thread::yield();
  }
}

TEST_P(EventQueueTest, RunsABoundedNumberOfCompletionsPerPoll) {
  EmptyBatch batch(queue_->get());
  constexpr int kStarted = 1000;
  for (int i = 0; i < kStarted; ++i) batch.Start();
  int most = 0;
  while (batch.count < kStarted) {
    const int before = batch.count;
    queue_->Poll(kNever, events_);
    most = std::max(most, batch.count - before);
  }
  EXPECT_GT(most, 1);
  EXPECT_LE(most, 64);
}

TEST_P(EventQueueTest, DrainingRunsEverything) {
  EmptyBatch batch(queue_->get());
  for (int i = 0; i < 100; ++i) batch.Start();
  queue_->DrainForever(events_);
  EXPECT_EQ(batch.count, 100);
}

INSTANTIATE_TEST_SUITE_P(InUseOrNot, EventQueueTest, testing::Bool());
INSTANTIATE_TEST_SUITE_P(InUseOrNot, LendingTest, testing::Bool());

}  // namespace
}  // namespace distbench::protocol
