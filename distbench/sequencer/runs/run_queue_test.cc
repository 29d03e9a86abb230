// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/runs/run_queue.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::ElementsAre;

// Records the events of all runs of a test, in order.
class Journal {
 public:
  void Add(std::string entry) {
    absl::MutexLock lock(&mutex_);
    entries_.push_back(std::move(entry));
  }
  std::vector<std::string> entries() const {
    absl::MutexLock lock(&mutex_);
    return entries_;
  }

 private:
  mutable absl::Mutex mutex_;
  std::vector<std::string> entries_;
};

// A run that lasts until it is told to end, or is cancelled.
class FakeRun : public QueuedRun {
 public:
  FakeRun(std::string name, Journal& journal)
      : name_(name), journal_(journal) {}

  void OnQueuePosition(int ahead) override {
    absl::MutexLock lock(&mutex_);
    positions_.push_back(ahead);
  }
  void Run() override {
    journal_.Add(name_ + " runs");
    started.Notify();
    may_end_.WaitForNotification();
    journal_.Add(name_ + " ends");
    ended.Notify();
  }
  void Cancel(const absl::Status& reason) override {
    journal_.Add(name_ + " cancelled: " + std::string(reason.message()));
    End();
  }
  void Drop(const absl::Status& reason) override {
    journal_.Add(name_ + " dropped: " + std::string(reason.message()));
  }

  void End() {
    if (!may_end_.HasBeenNotified()) may_end_.Notify();
  }
  std::vector<int> positions() const {
    absl::MutexLock lock(&mutex_);
    return positions_;
  }

  absl::Notification started;
  absl::Notification ended;

 private:
  const std::string name_;
  Journal& journal_;
  absl::Notification may_end_;
  mutable absl::Mutex mutex_;
  std::vector<int> positions_;
};

class RunQueueTest : public testing::Test {
 protected:
  std::shared_ptr<FakeRun> Submit(const std::string& name,
                                  bool preempt = false) {
    auto run = std::make_shared<FakeRun>(name, journal_);
    queue_.Submit(run, preempt);
    return run;
  }

  Journal journal_;
  RunQueue queue_;
};

TEST_F(RunQueueTest, RunsOneAtATimeInOrder) {
  auto a = Submit("a");
  auto b = Submit("b");
  a->started.WaitForNotification();
  EXPECT_FALSE(b->started.HasBeenNotified());
  a->End();
  b->started.WaitForNotification();
  b->End();
  b->ended.WaitForNotification();
  EXPECT_THAT(journal_.entries(),
              ElementsAre("a runs", "a ends", "b runs", "b ends"));
}

TEST_F(RunQueueTest, TellsWhoWaitsHowManyAreAhead) {
  auto a = Submit("a");
  a->started.WaitForNotification();
  auto b = Submit("b");
  auto c = Submit("c");
  EXPECT_EQ(queue_.waiting_count(), 2);
  EXPECT_THAT(a->positions(), ElementsAre(0));
  EXPECT_THAT(c->positions(), ElementsAre(2));
  a->End();
  b->started.WaitForNotification();
  EXPECT_THAT(b->positions(), ElementsAre(1));
  EXPECT_THAT(c->positions(), ElementsAre(2, 1));
  b->End();
  c->started.WaitForNotification();
  c->End();
}

TEST_F(RunQueueTest, SomeGoFirstButDisturbNobodyThatRuns) {
  auto a = Submit("a");
  a->started.WaitForNotification();
  auto b = Submit("b");
  auto c = Submit("c", true);
  auto d = Submit("d", true);
  EXPECT_THAT(b->positions(), ElementsAre(1, 2, 3));
  EXPECT_THAT(c->positions(), ElementsAre(1));
  EXPECT_THAT(d->positions(), ElementsAre(2));
  for (const auto& run : {a, c, d, b}) run->End();
  b->ended.WaitForNotification();
  EXPECT_THAT(journal_.entries(),
              ElementsAre("a runs", "a ends", "c runs", "c ends", "d runs",
                          "d ends", "b runs", "b ends"));
}

TEST_F(RunQueueTest, KnowsWhetherSomethingRuns) {
  EXPECT_TRUE(queue_.AwaitIdle(absl::ZeroDuration()));
  auto a = Submit("a");
  a->started.WaitForNotification();
  EXPECT_FALSE(queue_.AwaitIdle(absl::ZeroDuration()));
  a->End();
  EXPECT_TRUE(queue_.AwaitIdle(absl::Seconds(20)));
}

TEST_F(RunQueueTest, DropsACancelledRunThatWaits) {
  auto a = Submit("a");
  a->started.WaitForNotification();
  auto b = Submit("b");
  auto c = Submit("c");
  queue_.Cancel(*b, absl::CancelledError("no longer wanted"));
  EXPECT_THAT(c->positions(), ElementsAre(2, 1));
  a->End();
  c->started.WaitForNotification();
  c->End();
  c->ended.WaitForNotification();
  EXPECT_THAT(journal_.entries(),
              ElementsAre("a runs", "b dropped: no longer wanted", "a ends",
                          "c runs", "c ends"));
}

TEST_F(RunQueueTest, CancelsTheRunThatRuns) {
  auto a = Submit("a");
  a->started.WaitForNotification();
  queue_.Cancel(*a, absl::CancelledError("no longer wanted"));
  a->ended.WaitForNotification();
  EXPECT_THAT(journal_.entries(),
              ElementsAre("a runs", "a cancelled: no longer wanted", "a ends"));
}

TEST_F(RunQueueTest, IgnoresTheCancellationOfWhatIsOver) {
  auto a = Submit("a");
  a->End();
  a->ended.WaitForNotification();
  auto b = Submit("b");
  b->started.WaitForNotification();
  queue_.Cancel(*a, absl::CancelledError("too late"));
  EXPECT_THAT(journal_.entries(), ElementsAre("a runs", "a ends", "b runs"));
  b->End();
}

TEST_F(RunQueueTest, CloseEndsEverythingAndRefusesMore) {
  auto a = Submit("a");
  a->started.WaitForNotification();
  auto b = Submit("b");
  queue_.Close(absl::UnavailableError("going"));
  a->ended.WaitForNotification();
  auto c = Submit("c");
  EXPECT_THAT(journal_.entries(),
              ElementsAre("a runs", "b dropped: going", "a cancelled: going",
                          "a ends", "c dropped: going"));
}

}  // namespace
}  // namespace distbench::sequencer
