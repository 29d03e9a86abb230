#include "distbench/products/blame/tail_shares.h"

#include <iterator>

#include "distbench/products/blame/testing/simulated_requests.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::blame {
namespace {

using ::testing::DoubleNear;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr double kRounding = 1e-9;

const BlameShare* Find(const std::vector<BlameShare>& shares, int rpc,
                       BlamePart part) {
  for (const BlameShare& share : shares) {
    if (share.rpc == rpc && share.part == part) return &share;
  }
  return nullptr;
}

TEST(WindowsOfTest, TheQuantileIsInTheMiddle) {
  const TracedRequests requests = Simulate({.requests = 1'500});
  const std::vector<TailWindow> windows = WindowsOf(requests);
  ASSERT_THAT(windows, SizeIs(std::size(kBlamedQuantiles)));
  const std::vector<int> order = ByLatency(requests);
  ASSERT_THAT(windows[0].trees, SizeIs(150));
  EXPECT_EQ(windows[0].trees[75], order[750]);
  ASSERT_THAT(windows[1].trees, SizeIs(30));
  EXPECT_EQ(windows[1].trees[15], order[1485]);
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
  const auto shares = SharesIn(requests, WindowsOf(requests));
  for (int i = 0; i < 2; ++i) {
    double time = 0;
    double excess = 0;
    for (const BlameShare& share : shares[i].shares) {
      time += share.of_time.value;
      excess += share.of_excess.has_value() ? share.of_excess->value : 0;
      EXPECT_LE(share.of_time.lower, share.of_time.value);
      EXPECT_GE(share.of_time.upper, share.of_time.value);
    }
    EXPECT_THAT(time, DoubleNear(1, kRounding));
    EXPECT_THAT(excess, DoubleNear(i == 0 ? 0 : 1, kRounding));
  }
  EXPECT_THAT(shares[2].shares, IsEmpty());
}

// A request waits for 100 us in each of nine parts; the ranks of one in ten
// also wait for 3.6 ms in the server's queue.
TEST(SharesInTest, AreAsCalculated) {
  const TracedRequests requests =
      Simulate({.requests = 1'500,
                .is_random = false,
                .trouble = {.rpc = kRank,
                            .part = BlamePart::kServerQueue,
                            .probability = 0.1,
                            .extra_ns = 3'600'000}});
  const auto shares = SharesIn(requests, WindowsOf(requests));
  EXPECT_THAT(shares[0].mean_ns, DoubleNear(900'000, kRounding));
  EXPECT_THAT(shares[1].mean_ns, DoubleNear(4'500'000, kRounding));
  ASSERT_THAT(shares[1].shares, SizeIs(9));

  const BlameShare& queue = shares[1].shares.front();
  EXPECT_EQ(queue.rpc, kRank);
  EXPECT_EQ(queue.part, BlamePart::kServerQueue);
  EXPECT_THAT(queue.of_time.value, DoubleNear(3.7 / 4.5, kRounding));
  EXPECT_THAT(queue.of_excess->value, DoubleNear(1, kRounding));
  EXPECT_EQ(MainCause(shares[1]), &queue);

  const BlameShare* handler =
      Find(shares[1].shares, kLookup, BlamePart::kServerHandler);
  ASSERT_NE(handler, nullptr);
  EXPECT_THAT(handler->of_time.value, DoubleNear(0.1 / 4.5, kRounding));
  EXPECT_THAT(handler->of_excess->value, DoubleNear(0, kRounding));

  for (const BlameShare& share : shares[0].shares) {
    EXPECT_THAT(share.of_time.value, DoubleNear(1 / 9.0, kRounding));
    EXPECT_FALSE(share.of_excess.has_value());
  }
  EXPECT_EQ(MainCause(shares[0]), nullptr);
}

TEST(SharesInTest, SingleInstancesAreTheLargest) {
  const TracedRequests requests =
      Simulate({.requests = 1'500,
                .is_random = false,
                .trouble = {.rpc = kLookup,
                            .instance = 7,
                            .probability = 0.1,
                            .extra_ns = 3'600'000}});
  const auto shares = SharesIn(requests, WindowsOf(requests));
  const BlameShare& largest = shares[1].instance_shares.front();
  EXPECT_EQ(requests.instances[largest.instance], "leaf/7");
  EXPECT_EQ(largest.part, BlamePart::kServerHandler);
  EXPECT_THAT(largest.of_time.value, DoubleNear(3.7 / 4.5, kRounding));
  EXPECT_LE(shares[1].instance_shares.size(), kMostInstanceShares);
}

// If all requests take the same time, there is nothing to explain.
TEST(SharesInTest, WithoutATailThereIsNoExcess) {
  const TracedRequests requests =
      Simulate({.requests = 1'500, .is_random = false});
  const auto shares = SharesIn(requests, WindowsOf(requests));
  ASSERT_THAT(shares[1].shares, SizeIs(9));
  for (const BlameShare& share : shares[1].shares) {
    EXPECT_FALSE(share.of_excess.has_value());
  }
}

TEST(SharesInTest, IntervalsAreNarrowerWithMoreTraces) {
  const auto width = [](int count) {
    const TracedRequests requests = Simulate({.requests = count});
    const auto shares = SharesIn(requests, WindowsOf(requests));
    const BlameEstimate& share = shares[1].shares.front().of_time;
    return share.upper - share.lower;
  };
  EXPECT_LT(width(24'000), 0.5 * width(1'500));
}

}  // namespace
}  // namespace distbench::blame
