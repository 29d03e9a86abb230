// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/blame/critical_path.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

#include "distbench/products/blame/testing/simulated_requests.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::blame {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
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
    for (const auto& [part, time_ns] : TimesOnPath(tree)) {
      EXPECT_GT(time_ns, 0);
      sum_ns += time_ns;
    }
    EXPECT_EQ(sum_ns, tree.total_ns());
  }
}

TEST(TimesOnPathTest, AreDividedAsTheServersReported) {
  // Always 100 us for network, queue and handler of each RPC on the path.
  RequestTree tree = Simulate({.requests = 1, .is_random = false}).trees[0];
  tree.calls[1].waits.reset();
  tree.lateness_ns = 7;
  EXPECT_THAT(TimesOnPath(tree),
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
  EXPECT_THAT(TimesOnPath(tree),
              UnorderedElementsAre(Pair(Pair(0, BlamePart::kServerQueue), 80),
                                   Pair(Pair(0, BlamePart::kNetwork), 20)));
}

constexpr double kRounding = 1e-9;

using Quantile = ReportedBlame::Quantile;

std::vector<Quantile> SharesOf(const TracedRequests& requests) {
  return SharesIn(requests, WindowsOf(requests));
}

TEST(WindowsOfTest, TheQuantileIsInTheMiddle) {
  const TracedRequests requests = Simulate({.requests = 1'500});
  const std::vector<TailWindow> windows = WindowsOf(requests);
  ASSERT_THAT(windows, SizeIs(std::size(kBlamedQuantiles)));
  std::vector<int64_t> sorted_ns;
  for (const RequestTree& tree : requests.trees) {
    sorted_ns.push_back(tree.total_ns());
  }
  std::sort(sorted_ns.begin(), sorted_ns.end());
  const auto times_in = [&](const TailWindow& window) {
    std::vector<int64_t> times_ns;
    for (const int tree : window.trees) {
      times_ns.push_back(requests.trees[tree].total_ns());
    }
    std::sort(times_ns.begin(), times_ns.end());
    return times_ns;
  };
  ASSERT_THAT(windows[0].trees, SizeIs(150));
  EXPECT_EQ(times_in(windows[0])[75], sorted_ns[750]);
  ASSERT_THAT(windows[1].trees, SizeIs(30));
  EXPECT_EQ(times_in(windows[1])[15], sorted_ns[1485]);
}

TEST(WindowsOfTest, TooFewTracesAreNoWindow) {
  const std::vector<TailWindow> windows =
      WindowsOf(Simulate({.requests = 1'499}));
  EXPECT_THAT(windows[0].trees, Not(IsEmpty()));
  EXPECT_THAT(windows[1].trees, IsEmpty());
  EXPECT_EQ(windows[1].needed_count, 1'500);
  EXPECT_EQ(windows[2].needed_count, 15'000);
}

TEST(SharesInTest, SharesAddUp) {
  TracedRequests requests = Simulate({.requests = 1'500});
  for (RequestTree& tree : requests.trees) tree.lateness_ns = 10'000;
  const std::vector<Quantile> quantiles = SharesOf(requests);
  for (int i = 0; i < 2; ++i) {
    double time = 0;
    double excess = 0;
    for (const ReportedBlame::BlameShare& share : quantiles[i].shares()) {
      time += share.share();
      excess += share.excess();
      EXPECT_LE(share.share_lower(), share.share());
      EXPECT_GE(share.share_upper(), share.share());
    }
    EXPECT_THAT(time, DoubleNear(1, kRounding));
    EXPECT_THAT(excess, DoubleNear(i == 0 ? 0 : 1, kRounding));
  }
  EXPECT_THAT(quantiles[2].shares(), IsEmpty());
}

// A request waits for 100 us in each of nine parts; the ranks of one in ten
// also wait for 3.6 ms in the server's queue.
TEST(SharesInTest, AreAsCalculated) {
  const std::vector<Quantile> quantiles =
      SharesOf(Simulate({.requests = 1'500,
                         .is_random = false,
                         .trouble = {.rpc = kRank,
                                     .part = BlamePart::kServerQueue,
                                     .probability = 0.1,
                                     .extra_ns = 3'600'000}}));
  EXPECT_THAT(quantiles[0].mean_ns(), DoubleNear(900'000, kRounding));
  EXPECT_THAT(quantiles[1].mean_ns(), DoubleNear(4'500'000, kRounding));
  ASSERT_THAT(quantiles[1].shares(), SizeIs(9));

  const ReportedBlame::BlameShare& queue = quantiles[1].shares(0);
  EXPECT_EQ(queue.rpc(), "rank");
  EXPECT_EQ(queue.part(), "server_queue");
  EXPECT_THAT(queue.share(), DoubleNear(3.7 / 4.5, kRounding));
  EXPECT_THAT(queue.excess(), DoubleNear(1, kRounding));
  EXPECT_EQ(MainCause(quantiles[1]), &queue);
  for (int i = 1; i < 9; ++i) {
    EXPECT_THAT(quantiles[1].shares(i).share(),
                DoubleNear(0.1 / 4.5, kRounding));
    EXPECT_THAT(quantiles[1].shares(i).excess(), DoubleNear(0, kRounding));
  }

  for (const ReportedBlame::BlameShare& share : quantiles[0].shares()) {
    EXPECT_THAT(share.share(), DoubleNear(1 / 9.0, kRounding));
    EXPECT_FALSE(share.has_excess());
  }
  EXPECT_EQ(MainCause(quantiles[0]), nullptr);
}

// If all requests take the same time, there is nothing to explain.
TEST(SharesInTest, WithoutATailThereIsNoExcess) {
  const std::vector<Quantile> quantiles =
      SharesOf(Simulate({.requests = 1'500, .is_random = false}));
  ASSERT_THAT(quantiles[1].shares(), SizeIs(9));
  for (const ReportedBlame::BlameShare& share : quantiles[1].shares()) {
    EXPECT_FALSE(share.has_excess());
  }
}

// What only requests around p50 wait for has a row in the tail, too.
TEST(SharesInTest, SharesBeyondP50AddUpIfTheTailLacksAPart) {
  TracedRequests requests;
  requests.rpcs = {"query"};
  for (int i = 0; i < 1'500; ++i) {
    requests.trees.push_back(TreeOf({MakeCall(-1, 0, 1'000 + 10 * i)}));
    if (i < 1'000) requests.trees.back().calls[0].waits = {100, 0};
  }
  double excess = 0;
  const Quantile tail = SharesOf(requests)[1];
  for (const ReportedBlame::BlameShare& share : tail.shares()) {
    excess += share.excess();
  }
  EXPECT_THAT(tail.shares(), SizeIs(3));
  EXPECT_THAT(excess, DoubleNear(1, kRounding));
}

TEST(SharesInTest, IntervalsAreNarrowerWithMoreTraces) {
  const auto width = [](int count) {
    const std::vector<Quantile> quantiles =
        SharesOf(Simulate({.requests = count}));
    const ReportedBlame::BlameShare& share = quantiles[1].shares(0);
    return share.share_upper() - share.share_lower();
  };
  EXPECT_LT(width(24'000), 0.5 * width(1'500));
}

// Intervals of 95 % contain what many more requests have.
TEST(SharesInTest, IntervalsContainTheShare) {
  const auto lookups = [](const TracedRequests& requests) {
    const Quantile tail = SharesOf(requests)[1];
    return *std::find_if(tail.shares().begin(), tail.shares().end(),
                         [](const ReportedBlame::BlameShare& share) {
                           return share.rpc() == "lookup" &&
                                  share.part() == "server_handler";
                         });
  };
  const ReportedBlame::BlameShare truth =
      lookups(Simulate({.requests = 100'000}));
  int shares = 0;
  int excesses = 0;
  for (uint64_t seed = 2; seed < 202; ++seed) {
    const ReportedBlame::BlameShare share =
        lookups(Simulate({.requests = 2'000, .seed = seed}));
    shares += share.share_lower() <= truth.share() &&
              truth.share() <= share.share_upper();
    excesses += share.excess_lower() <= truth.excess() &&
                truth.excess() <= share.excess_upper();
  }
  EXPECT_GE(shares, 184);
  EXPECT_GE(excesses, 184);
}

}  // namespace
}  // namespace distbench::blame
