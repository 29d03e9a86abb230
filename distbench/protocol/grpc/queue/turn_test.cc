#include "distbench/protocol/grpc/queue/turn.h"

#include <atomic>
#include <thread>
#include <vector>

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

}  // namespace
}  // namespace distbench::protocol
