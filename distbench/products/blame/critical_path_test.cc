#include "distbench/products/blame/critical_path.h"

#include <map>
#include <numeric>

#include "distbench/products/blame/testing/simulated_requests.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::blame {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

Call MakeCall(int parent, int64_t start_ns, int64_t end_ns) {
  return {.parent = parent, .start_ns = start_ns, .end_ns = end_ns};
}

// Own times by call.
std::map<int, int64_t> OwnTimes(const RequestTree& tree) {
  std::map<int, int64_t> times;
  for (const PathStep& step : CriticalPath(tree)) {
    times[step.call] = step.own_ns;
  }
  return times;
}

TEST(CriticalPathTest, OfASequenceAllRpcsAreOnThePath) {
  const RequestTree tree =
      TreeOf({MakeCall(-1, 0, 100), MakeCall(0, 10, 40), MakeCall(0, 50, 90)});
  EXPECT_THAT(OwnTimes(tree),
              ElementsAre(Pair(0, 30), Pair(1, 30), Pair(2, 40)));
}

TEST(CriticalPathTest, OfAFanoutOnlyTheLastIsOnThePath) {
  const RequestTree tree = TreeOf({MakeCall(-1, 0, 100), MakeCall(0, 10, 40),
                                   MakeCall(0, 10, 90), MakeCall(0, 11, 60)});
  EXPECT_THAT(OwnTimes(tree), ElementsAre(Pair(0, 20), Pair(2, 80)));
}

TEST(CriticalPathTest, BeforeAFanoutItGoesOnToWhatThatWaitedFor) {
  const RequestTree tree =
      TreeOf({MakeCall(-1, 0, 100), MakeCall(0, 5, 30), MakeCall(0, 5, 50),
              MakeCall(0, 55, 80), MakeCall(0, 55, 95)});
  EXPECT_THAT(OwnTimes(tree),
              ElementsAre(Pair(0, 15), Pair(2, 45), Pair(4, 40)));
}

TEST(CriticalPathTest, WhatRanBesideTheLastRpcIsNotOnThePath) {
  const RequestTree tree =
      TreeOf({MakeCall(-1, 0, 100), MakeCall(0, 10, 60), MakeCall(0, 40, 90)});
  EXPECT_THAT(OwnTimes(tree), ElementsAre(Pair(0, 50), Pair(2, 50)));
}

TEST(CriticalPathTest, GoesDownIntoTheRpcsOfRpcs) {
  const RequestTree tree =
      TreeOf({MakeCall(-1, 0, 100), MakeCall(0, 10, 90), MakeCall(1, 20, 30),
              MakeCall(1, 20, 80), MakeCall(3, 25, 75)});
  EXPECT_THAT(OwnTimes(tree),
              ElementsAre(Pair(0, 20), Pair(1, 20), Pair(3, 10), Pair(4, 50)));
}

TEST(TimesOnPathTest, AddUpToTheResponseTime) {
  TracedRequests requests = Simulate({.requests = 50});
  for (RequestTree& tree : requests.trees) {
    tree.lateness_ns = 1'234;
    int64_t sum_ns = 0;
    for (const PathTime& time : TimesOnPath(tree)) {
      EXPECT_GT(time.time_ns, 0);
      sum_ns += time.time_ns;
    }
    EXPECT_EQ(sum_ns, tree.total_ns());
  }
}

TEST(TimesOnPathTest, AreDividedAsTheServersReported) {
  // Always 100 us for network, queue and handler of each RPC on the path.
  RequestTree tree = Simulate({.requests = 1, .is_random = false}).trees[0];
  tree.calls[1].waits.reset();
  tree.client = 9;
  tree.lateness_ns = 7;
  std::map<std::pair<int, BlamePart>, int64_t> times;
  for (const PathTime& time : TimesOnPath(tree)) {
    EXPECT_EQ(time.instance == 9, time.part == BlamePart::kLateness);
    times[{time.rpc, time.part}] += time.time_ns;
  }
  EXPECT_THAT(times,
              UnorderedElementsAre(
                  Pair(Pair(kQuery, BlamePart::kLateness), 7),
                  Pair(Pair(kQuery, BlamePart::kNetwork), 100'000),
                  Pair(Pair(kQuery, BlamePart::kServerQueue), 100'000),
                  Pair(Pair(kQuery, BlamePart::kServerHandler), 100'000),
                  Pair(Pair(kRank, BlamePart::kUndivided), 300'000),
                  Pair(Pair(kLookup, BlamePart::kNetwork), 100'000),
                  Pair(Pair(kLookup, BlamePart::kServerQueue), 100'000),
                  Pair(Pair(kLookup, BlamePart::kServerHandler), 100'000)));
}

// The parts that a server reports may exceed the time that its client saw.
TEST(TimesOnPathTest, NoPartIsLongerThanTheRpc) {
  RequestTree tree = TreeOf({MakeCall(-1, 0, 100)});
  tree.calls[0].waits = {.network_ns = 50, .server_queue_ns = 80};
  std::map<BlamePart, int64_t> times;
  for (const PathTime& time : TimesOnPath(tree))
    times[time.part] = time.time_ns;
  EXPECT_THAT(times, UnorderedElementsAre(Pair(BlamePart::kServerQueue, 80),
                                          Pair(BlamePart::kNetwork, 20)));
}

}  // namespace
}  // namespace distbench::blame
