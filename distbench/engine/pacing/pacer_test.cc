#include "distbench/engine/pacing/pacer.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::ElementsAre;

IterationsPlan OpenLoop(ArrivalProcess arrivals, int64_t interval_ns,
                        int64_t max_duration_ns = kUnlimited) {
  IterationsPlan plan;
  plan.open_loop = true;
  plan.arrivals = arrivals;
  plan.interval_ns = interval_ns;
  plan.max_duration_ns = max_duration_ns;
  return plan;
}

// Returns the first `count` intended times of all shards together, in order.
std::vector<int64_t> Times(const IterationsPlan& plan, Pacer::Position position,
                           int shard_count, int count) {
  std::mt19937_64 random(42);
  std::vector<int64_t> times;
  for (int shard = 0; shard < shard_count; ++shard) {
    position.shard = shard;
    position.shard_count = shard_count;
    Pacer pacer(plan, position, random);
    for (int i = 0; i < count && !pacer.exhausted(); ++i) {
      times.push_back(pacer.next_ns());
      pacer.Advance(random);
    }
  }
  std::sort(times.begin(), times.end());
  times.resize(std::min<size_t>(times.size(), count));
  return times;
}

TEST(PacerTest, ConstantArrivalsAreTheSameHoweverTheyAreShared) {
  const IterationsPlan plan = OpenLoop(ArrivalProcess::kConstant, 10);
  for (int shards : {1, 2, 3}) {
    EXPECT_THAT(Times(plan, {.start_ns = 100}, shards, 5),
                ElementsAre(100, 110, 120, 130, 140));
  }
}

TEST(PacerTest, DurationIncludesItsEnd) {
  const IterationsPlan plan = OpenLoop(ArrivalProcess::kConstant, 10, 20);
  for (int shards : {1, 2, 5}) {
    EXPECT_THAT(Times(plan, {.start_ns = 100}, shards, 100),
                ElementsAre(100, 110, 120));
  }
}

TEST(PacerTest, BurstsAreAlignedToTheCommonClockStrictlyLater) {
  const IterationsPlan plan = OpenLoop(ArrivalProcess::kSyncBurst, 1000);
  EXPECT_THAT(
      Times(plan, {.start_ns = 100, .common_clock_offset_ns = 950}, 1, 3),
      ElementsAre(1050, 2050, 3050));
  // A start exactly on a multiple waits for the next one.
  EXPECT_THAT(Times(plan, {.start_ns = 2000}, 2, 3),
              ElementsAre(3000, 4000, 5000));
}

TEST(PacerTest, SpreadBurstsAreShiftedByInstance) {
  const IterationsPlan plan = OpenLoop(ArrivalProcess::kSyncBurstSpread, 1000);
  EXPECT_THAT(
      Times(plan, {.start_ns = 10, .instance = 1, .instance_count = 4}, 1, 2),
      ElementsAre(1250, 2250));
}

TEST(PacerTest, FirstIterationIsNeverBeyondTheDuration) {
  const IterationsPlan plan = OpenLoop(ArrivalProcess::kSyncBurst, 1000, 5);
  EXPECT_THAT(Times(plan, {.start_ns = 10}, 1, 10), ElementsAre(1000));
  EXPECT_THAT(Times(plan, {.start_ns = 10}, 3, 10), ElementsAre(1000));
}

// The gaps of a Poisson process are exponential, with known mean, standard
// deviation and median, even when it is thinned over workers.
TEST(PacerTest, ExponentialGapsHaveTheirMoments) {
  constexpr int kCount = 200'000;
  const IterationsPlan plan = OpenLoop(ArrivalProcess::kExponential, 1000);
  for (int shards : {1, 4}) {
    const std::vector<int64_t> times = Times(plan, {}, shards, kCount);
    std::vector<double> gaps;
    for (size_t i = 1; i < times.size(); ++i) {
      gaps.push_back(static_cast<double>(times[i] - times[i - 1]));
    }
    double sum = 0, squares = 0;
    for (double gap : gaps) {
      sum += gap;
      squares += gap * gap;
    }
    const double mean = sum / gaps.size();
    EXPECT_NEAR(mean, 1000, 10);
    EXPECT_NEAR(std::sqrt(squares / gaps.size() - mean * mean), 1000, 20);
    std::nth_element(gaps.begin(), gaps.begin() + gaps.size() / 2, gaps.end());
    EXPECT_NEAR(gaps[gaps.size() / 2], 1000 * std::log(2), 10);
  }
}

TEST(PacerTest, ShortIntervalsKeepTheirMean) {
  const IterationsPlan plan = OpenLoop(ArrivalProcess::kExponential, 3);
  const std::vector<int64_t> times = Times(plan, {}, 1, 300'000);
  EXPECT_NEAR(static_cast<double>(times.back()) / times.size(), 3, 0.03);
}

TEST(PacerTest, DueCountIsWhatShouldHaveStarted) {
  std::mt19937_64 random;
  Pacer pacer(OpenLoop(ArrivalProcess::kConstant, 10, 95), {.start_ns = 0},
              random);
  EXPECT_EQ(pacer.due_count(0), 1);
  EXPECT_EQ(pacer.due_count(49), 5);
  EXPECT_EQ(pacer.due_count(1000), 10) << "none is due after the end";
  pacer.Advance(random);
  EXPECT_EQ(pacer.due_count(9), 0);
  EXPECT_EQ(pacer.due_count(1000), 9);
  pacer.Skip(4);
  EXPECT_EQ(pacer.next_ns(), 50);
  EXPECT_EQ(pacer.due_count(1000), 5);
}

TEST(PacerTest, HugeIntervalsDoNotOverflow) {
  std::mt19937_64 random;
  Pacer pacer(OpenLoop(ArrivalProcess::kConstant, kUnlimited / 2),
              {.start_ns = 100, .shard = 2, .shard_count = 3}, random);
  pacer.Advance(random);
  EXPECT_EQ(pacer.next_ns(), kUnlimited);
}

}  // namespace
}  // namespace distbench
