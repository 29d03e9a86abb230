// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/pacing/pacer.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using ::testing::ElementsAre;

config::IterationsPlan OpenLoop(config::ArrivalProcess arrivals,
                                int64_t interval_ns,
                                int64_t max_duration_ns = config::kUnlimited) {
  config::IterationsPlan plan;
  plan.open_loop = true;
  plan.arrivals = arrivals;
  plan.interval_ns = interval_ns;
  plan.max_duration_ns = max_duration_ns;
  return plan;
}

// Returns the first `count` intended times of all shards together, in order.
std::vector<int64_t> Times(const config::IterationsPlan& plan,
                           Pacer::Position position, int shard_count,
                           int count) {
  std::mt19937_64 random(42);
  std::vector<int64_t> times;
  for (int shard = 0; shard < shard_count; ++shard) {
    position.shard = shard;
    position.shard_count = shard_count;
    Pacer pacer(plan, position, random);
    for (int i = 0; i < count; ++i) {
      pacer.Settle(config::kUnlimited);
      if (pacer.exhausted()) break;
      times.push_back(pacer.next_ns());
      pacer.Advance(random);
    }
  }
  std::sort(times.begin(), times.end());
  times.resize(std::min<size_t>(times.size(), count));
  return times;
}

TEST(PacerTest, ConstantArrivalsAreTheSameHoweverTheyAreShared) {
  const config::IterationsPlan plan =
      OpenLoop(config::ArrivalProcess::kConstant, 10);
  for (int shards : {1, 2, 3}) {
    EXPECT_THAT(Times(plan, {.start_ns = 100}, shards, 5),
                ElementsAre(100, 110, 120, 130, 140));
  }
}

TEST(PacerTest, DurationIncludesItsEnd) {
  const config::IterationsPlan plan =
      OpenLoop(config::ArrivalProcess::kConstant, 10, 20);
  for (int shards : {1, 2, 5}) {
    EXPECT_THAT(Times(plan, {.start_ns = 100}, shards, 100),
                ElementsAre(100, 110, 120));
  }
}

TEST(PacerTest, BurstsAreAlignedToTheCommonClockStrictlyLater) {
  const config::IterationsPlan plan =
      OpenLoop(config::ArrivalProcess::kSyncBurst, 1000);
  EXPECT_THAT(
      Times(plan, {.start_ns = 100, .common_clock_offset_ns = 950}, 1, 3),
      ElementsAre(1050, 2050, 3050));
  // A start exactly on a multiple waits for the next one.
  EXPECT_THAT(Times(plan, {.start_ns = 2000}, 2, 3),
              ElementsAre(3000, 4000, 5000));
}

TEST(PacerTest, SpreadBurstsAreShiftedByInstance) {
  const config::IterationsPlan plan =
      OpenLoop(config::ArrivalProcess::kSyncBurstSpread, 1000);
  EXPECT_THAT(
      Times(plan, {.start_ns = 10, .instance = 1, .instance_count = 4}, 1, 2),
      ElementsAre(1250, 2250));
}

TEST(PacerTest, FirstIterationIsNeverBeyondTheDuration) {
  const config::IterationsPlan plan =
      OpenLoop(config::ArrivalProcess::kSyncBurst, 1000, 5);
  EXPECT_THAT(Times(plan, {.start_ns = 10}, 1, 10), ElementsAre(1000));
  EXPECT_THAT(Times(plan, {.start_ns = 10}, 3, 10), ElementsAre(1000));
}

// The gaps of a Poisson process are exponential, with known mean, standard
// deviation and median, even when it is thinned over workers.
TEST(PacerTest, ExponentialGapsHaveTheirMoments) {
  constexpr int kCount = 200'000;
  const config::IterationsPlan plan =
      OpenLoop(config::ArrivalProcess::kExponential, 1000);
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
  const config::IterationsPlan plan =
      OpenLoop(config::ArrivalProcess::kExponential, 3);
  const std::vector<int64_t> times = Times(plan, {}, 1, 300'000);
  EXPECT_NEAR(static_cast<double>(times.back()) / times.size(), 3, 0.03);
}

TEST(PacerTest, DueCountIsWhatShouldHaveStarted) {
  std::mt19937_64 random;
  Pacer pacer(OpenLoop(config::ArrivalProcess::kConstant, 10, 95),
              {.start_ns = 0}, random);
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
  Pacer pacer(
      OpenLoop(config::ArrivalProcess::kConstant, config::kUnlimited / 2),
      {.start_ns = 100, .shard = 2, .shard_count = 3}, random);
  pacer.Advance(random);
  EXPECT_EQ(pacer.next_ns(), config::kUnlimited);
}

// ---- Composed arrivals ------------------------------------------------------

config::IterationsPlan Composed(config::ArrivalPlan arrivals,
                                int64_t interval_ns,
                                int64_t max_duration_ns = config::kUnlimited) {
  config::IterationsPlan plan =
      OpenLoop(config::ArrivalProcess::kConstant, interval_ns, max_duration_ns);
  plan.composed_arrivals =
      std::make_shared<const config::ArrivalPlan>(std::move(arrivals));
  return plan;
}

// At first for 1 us on, then for 9 us off, and so on.
config::ArrivalPlan OnOff(config::ArrivalSourcePlan::Process process) {
  config::ArrivalSourcePlan source;
  source.process = process;
  config::RateModulationPlan on_off;
  on_off.pieces = {{1000, 1, 1}, {10'000, 0, 0}};
  on_off.repeats = true;
  source.modulations = {on_off};
  config::ArrivalPlan plan;
  plan.sources = {source};
  return plan;
}

TEST(PacerTest, ComposedArrivalsBeginAtTheStartAndEndWithTheAction) {
  const config::IterationsPlan plan = Composed(
      OnOff(config::ArrivalSourcePlan::Process::kConstant), 400, 20'000);
  for (int shards : {1, 2, 3}) {
    EXPECT_THAT(Times(plan, {.start_ns = 100}, shards, 100),
                ElementsAre(100, 500, 900, 10'300, 10'700, 20'100))
        << shards;
  }
}

TEST(PacerTest, ComposedArrivalsDependOnTheSeedAndNotOnTheWorkers) {
  const config::IterationsPlan plan =
      Composed(OnOff(config::ArrivalSourcePlan::Process::kExponential), 40);
  const Pacer::Position position = {.arrival_seed = 5};
  const std::vector<int64_t> times = Times(plan, position, 1, 1000);
  EXPECT_EQ(Times(plan, position, 4, 1000), times);
  EXPECT_NE(Times(plan, {.arrival_seed = 6}, 1, 1000), times);
}

// Exactly, and whatever has been asked before.
TEST(PacerTest, ComposedArrivalsThatAreDueAreCounted) {
  const config::IterationsPlan plan = Composed(
      OnOff(config::ArrivalSourcePlan::Process::kExponential), 40, 1'000'000);
  const std::vector<int64_t> times = Times(plan, {}, 1, 10'000);
  std::mt19937_64 random;
  Pacer pacer(plan, {}, random);
  const auto due = [&](size_t passed, int64_t now_ns) {
    return std::upper_bound(times.begin(), times.end(), now_ns) -
           times.begin() - static_cast<int64_t>(passed);
  };
  EXPECT_EQ(pacer.due_count(5'000), due(0, 5'000));
  EXPECT_GT(due(0, 5'000), 10);
  pacer.Advance(random);
  EXPECT_EQ(pacer.due_count(25'000), due(1, 25'000));
  for (int64_t left = due(1, 25'000); left > 0; left -= 10) {
    pacer.Skip(std::min<int64_t>(left, 10));
  }
  EXPECT_EQ(pacer.due_count(25'000), 0);
  const size_t passed = due(0, 25'000);
  EXPECT_EQ(pacer.next_ns(), times[passed]);
  pacer.Advance(random);
  EXPECT_EQ(pacer.due_count(100'000), due(passed + 1, 100'000));
  EXPECT_EQ(pacer.due_count(2'000'000), due(passed + 1, 2'000'000))
      << "none is due after the end";
}

TEST(PacerTest, CountlessArrivalsAreEstimated) {
  config::ArrivalPlan arrivals;
  arrivals.sources.resize(1);
  const config::IterationsPlan plan = Composed(std::move(arrivals), 1);
  std::mt19937_64 random;
  Pacer pacer(plan, {}, random);
  const int64_t hour_ns = 3'600'000'000'000;
  const auto count = static_cast<double>(pacer.due_count(hour_ns));
  EXPECT_NEAR(count / hour_ns, 1, 0.001);
  pacer.Skip(hour_ns / 2);
  EXPECT_NEAR(static_cast<double>(pacer.next_ns()) / hour_ns, 0.5, 0.001);
  EXPECT_NEAR(static_cast<double>(pacer.due_count(hour_ns)) / hour_ns, 0.5,
              0.001);
}

// In no more steps than it takes, and whatever the rate does.
TEST(PacerTest, ABacklogOfBillionsIsSkippedAtTheRatesOfItsTime) {
  // A billion in the first second, then a tenth of that: two in 11 s.
  config::ArrivalPlan arrivals;
  arrivals.sources.resize(1);
  arrivals.sources[0].modulations.resize(1);
  arrivals.sources[0].modulations[0].pieces = {{1e9, 1, 1}, {2e9, 0.1, 0.1}};
  const config::IterationsPlan plan =
      Composed(std::move(arrivals), 1, 11'000'000'000);
  std::mt19937_64 random;
  Pacer pacer(plan, {}, random);
  const int64_t due = pacer.due_count(config::kUnlimited);
  EXPECT_NEAR(static_cast<double>(due) / 2e9, 1, 0.001);
  int64_t skipped = 0;
  while (!pacer.exhausted()) {
    const int64_t count = std::min<int64_t>(20'000, due - skipped);
    if (count <= 0) break;
    pacer.Skip(count);
    skipped += count;
  }
  EXPECT_NEAR(static_cast<double>(skipped) / 2e9, 1, 0.001);
  EXPECT_NEAR(static_cast<double>(pacer.next_ns()) / 11e9, 1, 0.001);
}

TEST(PacerTest, WhatNeverArrivesEndsTheAction) {
  config::ArrivalPlan arrivals;
  arrivals.sources.resize(1);
  arrivals.sources[0].modulations.resize(1);
  arrivals.sources[0].modulations[0].pieces = {{1000, 1, 1}, {2000, 0, 0}};
  std::mt19937_64 random;
  const config::IterationsPlan plan = Composed(arrivals, 100);
  for (const int shards : {1, 2}) {
    Pacer pacer(plan, {.shard_count = shards}, random);
    int count = 0;
    for (; count < 1000 && !pacer.exhausted(); ++count) pacer.Advance(random);
    EXPECT_LT(count, 100);
    EXPECT_EQ(pacer.due_count(config::kUnlimited), 0);
  }
}

TEST(PacerTest, ALongSearchGoesOnWhenItsTimeHasCome) {
  // Nothing is due for a second, of 1 us pieces.
  config::ArrivalSourcePlan source;
  source.process = config::ArrivalSourcePlan::Process::kConstant;
  config::RateModulationPlan flicker;
  flicker.pieces = {{1000, 0, 0}, {2000, 1e-9, 1e-9}};
  flicker.repeats = true;
  config::RateModulationPlan late;
  late.pieces = {{1e9, 0, 0}, {2e9, 1, 1}};
  source.modulations = {flicker, late};
  config::ArrivalPlan arrivals;
  arrivals.sources = {source};
  const config::IterationsPlan plan = Composed(std::move(arrivals), 1);
  std::mt19937_64 random;
  Pacer pacer(plan, {}, random);
  EXPECT_LT(pacer.next_ns(), 1'000'000'000);
  int wake_ups = 0;
  while (pacer.next_ns() < 1'000'000'000) {
    const int64_t now_ns = pacer.next_ns();
    pacer.Settle(now_ns);
    ASSERT_GT(pacer.next_ns(), now_ns);
    ++wake_ups;
  }
  EXPECT_LT(wake_ups, 1000);
  pacer.Settle(1'100'000'000);
  EXPECT_EQ(pacer.next_ns(), 1'000'001'000);
  EXPECT_EQ(pacer.due_count(1'000'001'000), 1);
}

}  // namespace
}  // namespace distbench::engine
