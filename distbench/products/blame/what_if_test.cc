#include "distbench/products/blame/what_if.h"

#include <algorithm>
#include <string>
#include <vector>

#include "distbench/products/blame/testing/simulated_requests.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::blame {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

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
  return Replay(tree).TotalNs([&](const Call& call) -> int64_t {
    return call.server == server ? duration_ns : -1;
  });
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

// All requests take 0.9 ms, but for the 5 % in which leaf/3 takes 3 ms longer.
class TryRemediesTest : public testing::Test {
 protected:
  TryRemediesTest()
      : requests_(Simulate({.is_random = false,
                            .trouble = {.rpc = kLookup,
                                        .instance = 3,
                                        .probability = 0.05,
                                        .extra_ns = 3'000'000}})) {}

  int Instance(const std::string& name) {
    const auto& names = requests_.instances;
    return static_cast<int>(std::find(names.begin(), names.end(), name) -
                            names.begin());
  }

  const TracedRequests requests_;
};

TEST_F(TryRemediesTest, SavingsAreAsCalculated) {
  const WhatIfs what_ifs =
      TryRemedies(requests_, {{kLookup, Instance("leaf/2")},
                              {kLookup, Instance("leaf/3")},
                              {kRank, Instance("middle/0")}});
  EXPECT_EQ(what_ifs.now_ns.value, 3'900'000);
  ASSERT_THAT(what_ifs.helpful, SizeIs(1));
  const WhatIf& what_if = what_ifs.helpful[0];
  EXPECT_EQ(what_if.remedy.instance, Instance("leaf/3"));
  EXPECT_EQ(what_if.then_ns.value, 900'000);
  EXPECT_EQ(what_if.then_ns.upper, 900'000);
  EXPECT_DOUBLE_EQ(what_if.saving.value, 3.0 / 3.9);
}

TEST_F(TryRemediesTest, AllRpcsMayTakeTheirMedian) {
  const WhatIfs what_ifs = TryRemedies(requests_, {{kLookup, -1}, {kRank, -1}});
  ASSERT_THAT(what_ifs.helpful, SizeIs(2));
  for (const WhatIf& what_if : what_ifs.helpful) {
    EXPECT_EQ(what_if.then_ns.value, 900'000);
  }
}

TEST_F(TryRemediesTest, AnInstanceWithoutSiblingsHasNoRemedy) {
  EXPECT_THAT(TryRemedies(requests_, {{kQuery, Instance("root/0")}}).helpful,
              IsEmpty());
}

TEST(TryRemediesOnEqualsTest, NoInstanceHelps) {
  const TracedRequests requests = Simulate({});
  std::vector<Remedy> remedies;
  for (const Call& call : requests.trees[0].calls) {
    if (call.rpc == kLookup) remedies.push_back({kLookup, call.server});
  }
  EXPECT_THAT(TryRemedies(requests, remedies).helpful, IsEmpty());
}

}  // namespace
}  // namespace distbench::blame
