// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/poller.h"

#include <sys/eventfd.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <thread>

#include "distbench/base/clock.h"
#include "distbench/base/testing/scarce_files.h"
#include "distbench/protocol/tcp/turn_work.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

using ::testing::HasSubstr;

TEST(BriefWaitsTest, AsksForPollingWhileWaitsAreBrief) {
  BriefWaits waits;
  EXPECT_EQ(waits.spin_ns(), 0);
  waits.OnSlept(BriefWaits::kBriefNs - 1);
  EXPECT_EQ(waits.spin_ns(), BriefWaits::kSpinNs);
  waits.OnSlept(BriefWaits::kBriefNs);
  EXPECT_EQ(waits.spin_ns(), 0);
}

TEST(PollerLimitsTest, RunningOutOfDescriptorsIsAnError) {
  Poller poller(/*spin_ns=*/0);
  const base::ScarceFiles no_files;
  const absl::Status status = poller.Open();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.ToString(), HasSubstr("ulimit -n"));
}

class Counter final : public Poller::Watcher {
 public:
  void OnReady(uint32_t epoll_events, TransportEvents&) override {
    ++count;
    last_events = epoll_events;
  }
  int count = 0;
  uint32_t last_events = 0;
};

// With and without spinning.
class PollerTest : public testing::TestWithParam<int64_t> {
 protected:
  PollerTest() : poller_(GetParam()) { EXPECT_TRUE(poller_.Open().ok()); }

  bool Poll(int64_t deadline_ns) { return poller_.Poll(deadline_ns, nobody_); }

  Poller poller_;
  NoEvents nobody_;
};

TEST_P(PollerTest, TellsWatchers) {
  const base::FileDescriptor event(eventfd(0, EFD_NONBLOCK));
  Counter counter;
  ASSERT_TRUE(poller_.Watch(event.get(), EPOLLIN, counter).ok());
  Poll(0);
  EXPECT_EQ(counter.count, 0);
  eventfd_write(event.get(), 1);
  Poll(INT64_MAX);
  EXPECT_EQ(counter.count, 1);
  EXPECT_EQ(counter.last_events, EPOLLIN);
  poller_.Rewatch(event.get(), 0, counter);
  EXPECT_FALSE(Poll(0));
  EXPECT_EQ(counter.count, 1);
}

// Reads the same number of bytes whenever it is told.
class Reader final : public Poller::Watcher {
 public:
  Reader(Poller& poller, int64_t bytes) : poller_(poller), bytes_(bytes) {
    eventfd_write(event_.get(), 1);
    EXPECT_TRUE(poller.Watch(event_.get(), EPOLLIN, *this).ok());
  }
  void OnReady(uint32_t, TransportEvents&) override {
    poller_.work().NoteReceived(bytes_);
    ++count;
  }
  int fd() const { return event_.get(); }
  int count = 0;

 private:
  Poller& poller_;
  const int64_t bytes_;
  const base::FileDescriptor event_{eventfd(0, EFD_NONBLOCK)};
};

int Told(const std::deque<Reader>& readers) {
  int told = 0;
  for (const Reader& reader : readers) told += reader.count;
  return told;
}

// All are always ready.
TEST_P(PollerTest, ATurnEndsAfterSomeBytesAndTheNextGoesOn) {
  std::deque<Reader> readers;
  for (int i = 0; i < 10; ++i) {
    readers.emplace_back(poller_, TurnWork::kReceivedBytes / 2);
  }
  for (int turn = 1; turn <= 5; ++turn) {
    Poll(INT64_MAX);
    EXPECT_EQ(Told(readers), 2 * turn);
  }
  for (const Reader& reader : readers) EXPECT_EQ(reader.count, 1);
  Poll(INT64_MAX);
  EXPECT_EQ(Told(readers), 12);
}

TEST_P(PollerTest, ATurnOfLittleWorkTellsAll) {
  std::deque<Reader> readers;
  for (int i = 0; i < 10; ++i) readers.emplace_back(poller_, 100);
  Poll(INT64_MAX);
  EXPECT_EQ(Told(readers), 10);
}

TEST_P(PollerTest, WhatWaitsForTheNextTurnCanBeForgotten) {
  std::deque<Reader> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back(poller_, TurnWork::kReceivedBytes);
  }
  Poll(INT64_MAX);
  ASSERT_EQ(Told(readers), 1);
  for (const Reader& reader : readers) poller_.Forget(reader);
  Poll(0);
  EXPECT_EQ(Told(readers), 1) << "only what was ready before is forgotten";
  Poll(0);
  EXPECT_EQ(Told(readers), 2);
}

// After a sleep too long, the timer may be all that a turn has left.
TEST(PollerTurnsTest, WhatIsLeftOfATurnSaysNothingOfTheSockets) {
  Poller poller(/*spin_ns=*/0);
  ASSERT_TRUE(poller.Open().ok());
  NoEvents nobody;
  Reader reader(poller, TurnWork::kReceivedBytes);
  constexpr int64_t kSleepNs = 1'000'000;
  const int64_t deadline_ns = base::NowNs() + kSleepNs;
  // Sets the timer, but need not wait for it.
  EXPECT_TRUE(poller.Poll(deadline_ns, nobody));
  ASSERT_EQ(reader.count, 1);
  while (base::NowNs() < deadline_ns + kSleepNs) std::this_thread::yield();
  EXPECT_TRUE(poller.Poll(0, nobody));
  ASSERT_EQ(reader.count, 2);
  EXPECT_TRUE(poller.Poll(0, nobody)) << "it has not looked at the reader";
  EXPECT_EQ(reader.count, 2) << "the timer was not behind the reader";
  EXPECT_TRUE(poller.Poll(0, nobody));
  EXPECT_EQ(reader.count, 3);
  poller.Rewatch(reader.fd(), 0, reader);
  EXPECT_FALSE(poller.Poll(0, nobody));
}

TEST_P(PollerTest, WakeEndsThisPollOrTheNext) {
  poller_.Wake();
  Poll(INT64_MAX);
  std::thread waker([&] { poller_.Wake(); });
  Poll(INT64_MAX);
  waker.join();
}

TEST_P(PollerTest, EveryWakeIsSeen) {
  constexpr int kRounds = 2000;
  std::atomic<int> asked = 0;
  std::atomic<int> seen = 0;
  std::thread waker([&] {
    for (int i = 1; i <= kRounds; ++i) {
      asked = i;
      poller_.Wake();
      while (seen < i) std::this_thread::yield();
    }
  });
  while (seen < kRounds) {
    // Would never return if a wake-up were lost.
    if (seen == asked) Poll(INT64_MAX);
    seen = asked.load();
  }
  waker.join();
}

TEST_P(PollerTest, ReturnsAtTheDeadline) {
  for (int64_t wait_ns : {5'000, 60'000, 300'000, 3'000'000}) {
    for (int i = 0; i < 20; ++i) {
      const int64_t deadline_ns = base::NowNs() + wait_ns;
      int polls = 0;
      while (base::NowNs() < deadline_ns) {
        Poll(deadline_ns);
        ++polls;
      }
      // It waits instead of polling all the time.
      EXPECT_LT(polls, 10);
    }
  }
}

TEST_P(PollerTest, DoesNotWaitAfterTheDeadline) {
  Poll(1);
  Poll(base::NowNs());
}

INSTANTIATE_TEST_SUITE_P(Spin, PollerTest, testing::Values(0, 100'000));

}  // namespace
}  // namespace distbench::protocol
