#include "distbench/engine/policies/concurrency_limit.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>

#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using Kind = config::ConcurrencyLimitPlan::Kind;

TEST(ConcurrencyLimitTest, AFixedLimitDoesNotChange) {
  ConcurrencyLimit limit({.kind = Kind::kFixed, .limit = 2}, 0, 1);
  limit.OnStart();
  EXPECT_TRUE(limit.has_room());
  limit.OnStart();
  EXPECT_FALSE(limit.has_room());
  limit.OnEnd(AttemptEnd::kFailed, 0);
  EXPECT_EQ(limit.limit(), 2);
  EXPECT_TRUE(limit.has_room());
}

TEST(ConcurrencyLimitTest, WorkersShareLimits) {
  int64_t sum = 0;
  for (int worker = 0; worker < 3; ++worker) {
    sum += ConcurrencyLimit({.limit = 20}, worker, 3).limit();
  }
  EXPECT_EQ(sum, 20);
  EXPECT_EQ(ConcurrencyLimit({.limit = 2}, /*worker=*/3, 4).limit(), 1);
}

TEST(ConcurrencyLimitTest, EachWorkerKnowsTheWholeLimit) {
  for (int worker = 0; worker < 3; ++worker) {
    EXPECT_EQ(ConcurrencyLimit({.limit = 20}, worker, 3).of_all_workers(), 20);
    // Each has at least 1.
    EXPECT_EQ(ConcurrencyLimit({.limit = 2}, worker, 3).of_all_workers(), 3);
  }
}

// Keeps as many in flight as the limit allows, and ends one after the other.
// Each end is a failure if more than `capacity` were in flight.
struct Averages {
  double limit = 0;
  int64_t least = 1'000'000;
  int64_t most = 0;
};
Averages RunAgainstCapacity(ConcurrencyLimit& limit, int64_t capacity) {
  Averages averages;
  std::deque<bool> in_flight;
  constexpr int kEnds = 200'000;
  for (int i = 0; i < kEnds; ++i) {
    while (limit.has_room()) {
      in_flight.push_back(in_flight.size() < capacity);
      limit.OnStart();
    }
    limit.OnEnd(
        in_flight.front() ? AttemptEnd::kSucceeded : AttemptEnd::kFailed, 100);
    in_flight.pop_front();
    if (i < kEnds / 2) continue;
    averages.limit += 2.0 * limit.limit() / kEnds;
    averages.least = std::min(averages.least, limit.limit());
    averages.most = std::max(averages.most, limit.limit());
  }
  return averages;
}

// A sawtooth below the capacity: one more makes a failure, which takes a tenth.
TEST(ConcurrencyLimitTest, AimdConvergesToTheCapacity) {
  for (const int start : {1, 1000}) {
    ConcurrencyLimit limit({.kind = Kind::kAimd, .limit = start}, 0, 1);
    const Averages averages = RunAgainstCapacity(limit, 50);
    EXPECT_GE(averages.least, 44) << start;
    EXPECT_LE(averages.most, 51) << start;
    EXPECT_NEAR(averages.limit, (0.9 * 51 + 51) / 2, 1.5) << start;
  }
}

TEST(ConcurrencyLimitTest, AimdStaysInItsRange) {
  ConcurrencyLimit limit(
      {.kind = Kind::kAimd, .limit = 10, .min_limit = 5, .max_limit = 12}, 0,
      1);
  const auto end_one = [&](AttemptEnd end) {
    while (limit.has_room()) limit.OnStart();
    limit.OnEnd(end, 1);
  };
  for (int i = 0; i < 1000; ++i) end_one(AttemptEnd::kSucceeded);
  EXPECT_EQ(limit.limit(), 12);
  for (int i = 0; i < 1000; ++i) {
    limit.OnStart();
    limit.OnEnd(AttemptEnd::kFailed, 1);
  }
  EXPECT_EQ(limit.limit(), 5);
}

TEST(ConcurrencyLimitTest, AnIdleCallerDoesNotRaiseItsLimit) {
  for (const Kind kind : {Kind::kAimd, Kind::kGradient}) {
    ConcurrencyLimit limit({.kind = kind, .limit = 20}, 0, 1);
    for (int i = 0; i < 10'000; ++i) {
      limit.OnStart();
      limit.OnEnd(AttemptEnd::kSucceeded, 100);
    }
    EXPECT_EQ(limit.limit(), 20);
  }
}

TEST(ConcurrencyLimitTest, WhatIsGivenUpChangesNothing) {
  for (const Kind kind : {Kind::kAimd, Kind::kGradient}) {
    ConcurrencyLimit limit({.kind = kind, .limit = 20}, 0, 1);
    for (int i = 0; i < 1000; ++i) {
      while (limit.has_room()) limit.OnStart();
      limit.OnEnd(AttemptEnd::kGivenUp, 100);
    }
    EXPECT_EQ(limit.limit(), 20);
  }
}

// With n servers and the others in their queue, a time is in proportion to the
// number in flight. The limit is then 2 n + sqrt(limit).
TEST(ConcurrencyLimitTest, TheGradientConvergesToItsFixedPoint) {
  for (const double n : {8.0, 100.0}) {
    for (const int start : {1, 1000}) {
      ConcurrencyLimit limit({.kind = Kind::kGradient, .limit = start}, 0, 1);
      double sum = 0;
      constexpr int kEnds = 1'000'000;
      // The unloaded time is measured first, as by callers whose load grows.
      limit.OnStart();
      for (int i = 0; i < 100; ++i) {
        limit.OnEnd(AttemptEnd::kSucceeded, 1'000'000);
        limit.OnStart();
      }
      int64_t in_flight = 1;
      for (int i = 0; i < kEnds; ++i) {
        while (limit.has_room()) {
          limit.OnStart();
          ++in_flight;
        }
        limit.OnEnd(
            AttemptEnd::kSucceeded,
            std::llround(1e6 *
                         std::max(1.0, static_cast<double>(in_flight) / n)));
        --in_flight;
        if (i >= kEnds / 2) sum += static_cast<double>(limit.limit());
      }
      const double root = (1 + std::sqrt(1 + 8 * n)) / 2;
      EXPECT_NEAR(sum / (kEnds / 2), root * root, 0.05 * root * root)
          << n << " from " << start;
    }
  }
}

}  // namespace
}  // namespace distbench::engine
