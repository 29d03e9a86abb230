// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/blame/what_if.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "distbench/products/blame/testing/simulated_requests.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::blame {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using WhatIfs = ReportedBlame::WhatIfs;

// Calls that `fanout` tells apart; `server` is what the tests refer to.
Call MakeCall(int parent, int fanout, int server, int64_t start_ns,
              int64_t end_ns) {
  return {.server = server,
          .parent = parent,
          .fanout = fanout,
          .start_ns = start_ns,
          .end_ns = end_ns};
}

// The time of the request if the RPCs of a server took this long.
int64_t TotalIf(const RequestTree& tree, int server, int64_t duration_ns) {
  std::vector<int64_t> durations_ns;
  for (const Call& call : tree.calls) {
    durations_ns.push_back(call.server == server ? duration_ns : kSame);
  }
  return Replay(tree, durations_ns);
}

TEST(ReplayTest, WithoutChangesARequestTakesAsLongAsItDid) {
  TracedRequests requests = Simulate({.requests = 100});
  for (RequestTree& tree : requests.trees) {
    tree.lateness_ns = 77;
    EXPECT_EQ(TotalIf(tree, -1, 0), tree.total_ns());
  }
}

TEST(ReplayTest, OfASequenceEverythingLaterMoves) {
  const RequestTree tree =
      TreeOf({MakeCall(-1, 0, 0, 0, 100), MakeCall(0, 1, 1, 10, 40),
              MakeCall(0, 2, 2, 50, 90)});
  EXPECT_EQ(TotalIf(tree, 1, 10), 80);
  EXPECT_EQ(TotalIf(tree, 2, 10), 70);
  EXPECT_EQ(TotalIf(tree, 2, 140), 200);
}

TEST(ReplayTest, OfAFanoutTheNextSlowestCounts) {
  const RequestTree tree =
      TreeOf({MakeCall(-1, 0, 0, 0, 100), MakeCall(0, 1, 1, 10, 40),
              MakeCall(0, 1, 2, 10, 90), MakeCall(0, 1, 3, 10, 60)});
  EXPECT_EQ(TotalIf(tree, 2, 0), 70);
  EXPECT_EQ(TotalIf(tree, 1, 0), 100);
  EXPECT_EQ(TotalIf(tree, 1, 85), 105);
}

// The second target of the fanout was sent after the first had answered.
TEST(ReplayTest, TargetsOfAFanoutDoNotWaitForEachOther) {
  const RequestTree tree =
      TreeOf({MakeCall(-1, 0, 0, 0, 100), MakeCall(0, 1, 1, 10, 15),
              MakeCall(0, 1, 2, 20, 90)});
  EXPECT_EQ(TotalIf(tree, 1, 30), 100);
}

TEST(ReplayTest, AfterAFanoutTheNextRpcWaitsForAllOfIt) {
  const RequestTree tree =
      TreeOf({MakeCall(-1, 0, 0, 0, 100), MakeCall(0, 1, 1, 0, 40),
              MakeCall(0, 1, 2, 0, 30), MakeCall(0, 3, 3, 50, 90)});
  EXPECT_EQ(TotalIf(tree, 1, 0), 90);  // then the other one ends at 30
  EXPECT_EQ(TotalIf(tree, 2, 50), 110);
}

TEST(ReplayTest, WhatRanBesideIsNotMoved) {
  const RequestTree tree =
      TreeOf({MakeCall(-1, 0, 0, 0, 100), MakeCall(0, 1, 1, 10, 60),
              MakeCall(0, 2, 2, 40, 90)});
  EXPECT_EQ(TotalIf(tree, 1, 0), 100);
  EXPECT_EQ(TotalIf(tree, 1, 90), 110);
}

TEST(ReplayTest, ChangesGoUpTheTree) {
  const RequestTree tree =
      TreeOf({MakeCall(-1, 0, 0, 0, 100), MakeCall(0, 1, 1, 10, 90),
              MakeCall(1, 2, 2, 20, 80)});
  EXPECT_EQ(TotalIf(tree, 2, 10), 50);
  // With a duration of its own, a call no longer depends on its children.
  EXPECT_EQ(TotalIf(tree, 1, 5), 25);
}

WhatIfs TryAll(const TracedRequests& requests) {
  return TryRemedies(requests, WindowsOf(requests)[kTail]);
}

// All requests take 0.9 ms, but for the 5 % in which leaf/3 takes 3 ms longer.
TEST(TryRemediesTest, SavingsAreAsCalculated) {
  for (const Asking asking : {Asking::kAllAtOnce, Asking::kThree}) {
    const WhatIfs what_ifs =
        TryAll(Simulate({.asking = asking,
                         .is_random = false,
                         .trouble = {.rpc = kLookup,
                                     .instance = 3,
                                     .probability = 0.1,
                                     .extra_ns = 3'000'000}}));
    EXPECT_EQ(what_ifs.p99_ns(), 3'900'000);
    ASSERT_THAT(what_ifs.remedies(), SizeIs(1));
    const ReportedBlame::Remedy& remedy = what_ifs.remedies(0);
    EXPECT_EQ(remedy.rpc(), "lookup");
    EXPECT_EQ(remedy.instance(), "leaf/3");
    EXPECT_EQ(remedy.p99_ns(), 900'000);
    EXPECT_EQ(remedy.p99_ns_upper(), 900'000);
    EXPECT_DOUBLE_EQ(remedy.saving(), 3.0 / 3.9);
  }
}

// The middle instances answer different requests.
TEST(TryRemediesTest, OneOfTwoWithoutSiblingsIsComparedWithOtherRequests) {
  const WhatIfs what_ifs = TryAll(Simulate(
      {.is_random = false,
       .trouble = {
           .rpc = kRank, .instance = 1, .probability = 0.1, .extra_ns = 900}}));
  EXPECT_THAT(what_ifs.remedies(), IsEmpty());  // 0.1 % is not worth it
  const WhatIfs slower = TryAll(Simulate({.is_random = false,
                                          .trouble = {.rpc = kRank,
                                                      .instance = 1,
                                                      .probability = 0.1,
                                                      .extra_ns = 900'000}}));
  ASSERT_THAT(slower.remedies(), SizeIs(1));
  EXPECT_EQ(slower.remedies(0).instance(), "middle/1");
  EXPECT_EQ(slower.remedies(0).p99_ns(), 900'000);
}

// A request that is slow everywhere would stay slow if its leaf were as fast as
// the others of the same request.
TEST(TryRemediesTest, RequestsThatAreSlowEverywhereStaySlow) {
  const WhatIfs what_ifs =
      TryAll(Simulate({.asking = Asking::kAllInTurn,
                       .large_share = 0.05,
                       .is_random = false,
                       .trouble = {.rpc = kLookup,
                                   .instance = 3,
                                   .probability = 1,
                                   .extra_ns = 3'000'000}}));
  ASSERT_THAT(what_ifs.remedies(), SizeIs(1));
  // Twelve RPCs of three parts each, of five times 100 us.
  EXPECT_EQ(what_ifs.p99_ns(), 18'000'000 + 3'000'000);
  EXPECT_EQ(what_ifs.remedies(0).p99_ns(), 18'000'000);
}

// All that is slow is so within one block.
TEST(TryRemediesTest, AMomentIsNoReason) {
  TracedRequests requests = Simulate({.is_random = false,
                                      .trouble = {.rpc = kLookup,
                                                  .instance = 3,
                                                  .probability = 1,
                                                  .extra_ns = 3'000'000}});
  const TracedRequests usual = Simulate({.is_random = false});
  for (size_t i = 0; i < requests.trees.size(); ++i) {
    if (i < 1'000 || i >= 1'060) requests.trees[i] = usual.trees[i];
  }
  const WhatIfs what_ifs = TryAll(requests);
  EXPECT_EQ(what_ifs.p99_ns(), 3'900'000);
  EXPECT_THAT(what_ifs.remedies(), IsEmpty());
}

TEST(TryRemediesTest, IntervalsAreThoseOfOrderStatistics) {
  TracedRequests requests = {.rpcs = {"query"}, .instances = {"root/0"}};
  for (int i = 1; i <= 10'000; ++i) {
    requests.trees.push_back(TreeOf({MakeCall(-1, 0, 0, 0, i)}));
  }
  const WhatIfs what_ifs = TryAll(requests);
  EXPECT_EQ(what_ifs.p99_ns(), 9'901);
  // 1.96 times the root of 10000 * 0.99 * 0.01.
  EXPECT_NEAR(what_ifs.p99_ns_lower(), 9'880, 2);
  EXPECT_NEAR(what_ifs.p99_ns_upper(), 9'920, 2);
}

}  // namespace
}  // namespace distbench::blame
