#include "distbench/products/blame/tail_shares.h"

#include <iterator>
#include <numeric>
#include <random>
#include <vector>

#include "distbench/products/blame/testing/simulated_requests.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::blame {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::vector<Multiplicities> DrawsOf(size_t item_count, uint64_t seed) {
  std::vector<Multiplicities> draws;
  VisitDraws(item_count, seed,
             [&](const Multiplicities& drawn) { draws.push_back(drawn); });
  return draws;
}

TEST(VisitDrawsTest, TheFirstHasEachItemOnce) {
  const auto draws = DrawsOf(20, 1);
  EXPECT_THAT(draws[0], Each(1));
  EXPECT_NE(draws[1], draws[0]);
  for (const Multiplicities& drawn : draws) {
    EXPECT_EQ(drawn.size(), 20);
    EXPECT_EQ(std::accumulate(drawn.begin(), drawn.end(), 0), 20);
  }
}

TEST(VisitDrawsTest, AreTheSameForTheSameSeed) {
  EXPECT_EQ(DrawsOf(20, 1), DrawsOf(20, 1));
  EXPECT_NE(DrawsOf(20, 1), DrawsOf(20, 2));
}

TEST(DrawnEstimateTest, LeavesOutTheEnds) {
  std::vector<double> values = {7};
  for (int i = 0; i <= 1'000; ++i) values.push_back(1'000 - i);
  const BlameEstimate estimate = DrawnEstimate(values);
  EXPECT_EQ(estimate.value, 7);
  EXPECT_EQ(estimate.lower, 25);
  EXPECT_EQ(estimate.upper, 975);
}

// Of 400 intervals, 380 should contain the mean; with few and skewed values,
// the bootstrap's are slightly too narrow.
TEST(DrawnEstimateTest, IntervalsContainTheMean) {
  std::mt19937_64 random(1);
  std::exponential_distribution<> draw(1);
  int count = 0;
  for (int i = 0; i < 400; ++i) {
    std::vector<double> values;
    for (int j = 0; j < 40; ++j) values.push_back(draw(random));
    std::vector<double> means;
    VisitDraws(values.size(), i, [&](const Multiplicities& drawn) {
      means.push_back(
          std::inner_product(values.begin(), values.end(), drawn.begin(), 0.0) /
          static_cast<double>(values.size()));
    });
    const BlameEstimate mean = DrawnEstimate(means);
    count += mean.lower <= 1 && 1 <= mean.upper;
  }
  EXPECT_GE(count, 360);
  EXPECT_LE(count, 392);
}

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
