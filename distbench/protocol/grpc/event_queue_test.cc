#include "distbench/protocol/grpc/event_queue.h"

#include <grpc/slice.h>
#include <grpc/support/time.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "distbench/base/clock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

constexpr int64_t kNever = INT64_MAX;
constexpr int64_t kHourNs = int64_t{3600} * 1'000'000'000;

int64_t NowNs() { return RealClock().MonotonicNs(); }

class NoEvents final : public TransportEvents {
 public:
  void OnDone(ClientCall*) override {}
  void OnRequest(ServerCall*) override {}
};

class EventQueueTest : public testing::Test {
 protected:
  EventQueueTest() {
    grpc_init();
    timer_ = std::make_unique<WakeTimer>();
    queue_ = std::make_unique<EventQueue>(*timer_, /*spin_ns=*/0);
  }
  ~EventQueueTest() override {
    queue_.reset();
    timer_.reset();
    grpc_shutdown();
  }

  NoEvents events_;
  std::unique_ptr<WakeTimer> timer_;
  std::unique_ptr<EventQueue> queue_;
};

TEST_F(EventQueueTest, DoesNotWaitForThePast) {
  for (int64_t deadline_ns : {INT64_MIN, int64_t{0}, NowNs()}) {
    queue_->Poll(deadline_ns, events_);
  }
}

TEST_F(EventQueueTest, WakesEndOnePollHoweverManyThereAre) {
  for (int i = 0; i < 10; ++i) queue_->Wake();
  queue_->Poll(kNever, events_);
  // Nothing is left: the next poll waits until its deadline.
  const int64_t deadline_ns = NowNs() + 3'000'000;
  queue_->Poll(deadline_ns, events_);
  EXPECT_GE(NowNs(), deadline_ns - 100'000);
}

TEST_F(EventQueueTest, IsWokenByOtherThreads) {
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
  // A lost wake-up would stop this for good.
  while (answered < kRounds) {
    queue_->Poll(kNever, events_);
    answered = asked.load();
  }
  waker.join();
}

TEST_F(EventQueueTest, ReturnsAboutAtItsDeadline) {
  for (int64_t wait_ns : {10'000, 100'000, 1'000'000, 5'000'000}) {
    const int64_t deadline_ns = NowNs() + wait_ns;
    int polls = 0;
    while (NowNs() < deadline_ns) {
      queue_->Poll(deadline_ns, events_);
      ++polls;
    }
    // Woken ahead, then polling to the end: no busy loop around it.
    EXPECT_LE(polls, 5) << wait_ns;
  }
}

TEST_F(EventQueueTest, DeadlinesMayMoveInBothDirections) {
  queue_->Wake();
  queue_->Poll(NowNs() + kHourNs, events_);
  const int64_t deadline_ns = NowNs() + 1'000'000;
  while (NowNs() < deadline_ns) queue_->Poll(deadline_ns, events_);
  queue_->Wake();
  queue_->Poll(NowNs() + kHourNs, events_);
}

TEST_F(EventQueueTest, AnAlarmThatIsOverDoesNotKeepPollsFromWaiting) {
  // The alarm goes off while the worker is busy elsewhere.
  std::thread waker([&] { queue_->Wake(); });
  queue_->Poll(NowNs() + 200'000, events_);
  waker.join();
  const int64_t busy_until_ns = NowNs() + 2'000'000;
  while (NowNs() < busy_until_ns) {
  }
  for (int64_t deadline_ns : {NowNs() + kHourNs, kNever}) {
    // If polls did not wait, they would be done before they are woken.
    std::atomic<bool> stop = false;
    int polls = 0;
    std::thread stopper([&] {
      const int64_t until_ns = NowNs() + 3'000'000;
      while (NowNs() < until_ns) std::this_thread::yield();
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

// Counts how often it is completed, and by whom.
class Posted final : public Completion {
 public:
  void OnComplete(bool ok, TransportEvents&) override {
    EXPECT_TRUE(ok);
    ++count;
    thread = std::this_thread::get_id();
  }

  int count = 0;
  std::thread::id thread;
};

TEST_F(EventQueueTest, WhatOthersPostRunsOnThePollingThread) {
  constexpr int kRounds = 2000;
  Posted posted;
  std::atomic<int> run = 0;
  std::thread poster([&] {
    for (int i = 1; i <= kRounds; ++i) {
      queue_->Post(posted);
      while (run < i) std::this_thread::yield();
    }
  });
  // A lost message would stop this for good.
  while (run < kRounds) {
    queue_->Poll(kNever, events_);
    run = posted.count;
  }
  poster.join();
  EXPECT_EQ(posted.count, kRounds);
  EXPECT_EQ(posted.thread, std::this_thread::get_id());
}

TEST_F(EventQueueTest, RunsABoundedNumberOfPostedPerPollInTheirOrder) {
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

TEST_F(EventQueueTest, MayEndAsSoonAsTheLastPostedHasRun) {
  for (int round = 0; round < 2000; ++round) {
    EventQueue queue(*timer_, /*spin_ns=*/0);
    Posted posted;
    std::thread poster([&] { queue.Post(posted); });
    while (posted.count == 0) queue.Poll(kNever, events_);
    // Before the poster is known to have returned.
    queue.DrainForever(events_);
    poster.join();
  }
}

TEST_F(EventQueueTest, MayEndWhileItsAlarmGoesOff) {
  constexpr int kRounds = 3000;
  constexpr int64_t kWokenAheadNs = 50'000;
  WakeTimer other_timer;
  for (int round = 0; round < kRounds; ++round) {
    EventQueue queue(*timer_, /*spin_ns=*/0);
    {
      // Its own alarm and somebody else wake it at about the same time; who
      // comes second finds it on its way out.
      const int64_t wake_ns = NowNs() + 60'000 + round % 32 * 1000;
      WakeTimer::Alarm other(other_timer, [&] { queue.Wake(); });
      other.Set(NowNs() + 70'000);
      queue.Poll(wake_ns + kWokenAheadNs, events_);
    }
    if (round % 2 == 0) queue.DrainForever(events_);
  }
}

// Completes at once, as often as it is started.
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

  int count = 0;

 private:
  grpc_call* call_;
};

TEST_F(EventQueueTest, RunsABoundedNumberOfCompletionsPerPoll) {
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

TEST_F(EventQueueTest, DrainingRunsEverything) {
  EmptyBatch batch(queue_->get());
  for (int i = 0; i < 100; ++i) batch.Start();
  queue_->DrainForever(events_);
  EXPECT_EQ(batch.count, 100);
}

}  // namespace
}  // namespace distbench
