// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/policies/attempts.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "distbench/base/testing/proto_testing.h"
#include "gtest/gtest.h"
#include "proto/traffic_config.pb.h"

namespace distbench::engine {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

int64_t CountWithin(const std::vector<int64_t>& times_ns, int64_t after_ns,
                    int64_t until_ns) {
  return std::count_if(times_ns.begin(), times_ns.end(), [&](int64_t time_ns) {
    return time_ns > after_ns && time_ns <= until_ns;
  });
}

TEST(SlidingCountTest, HasTheWindowWithinASixteenth) {
  constexpr int64_t kWindowNs = 1600;
  SlidingCount count(kWindowNs);
  std::mt19937_64 random(1);
  std::vector<int64_t> times_ns;
  int64_t now_ns = 1'000'000;
  for (int i = 0; i < 20'000; ++i) {
    now_ns += random() % (i % 1000 == 0 ? 5000 : 20);
    times_ns.push_back(now_ns);
    count.Add(now_ns);
    const int64_t inside = CountWithin(times_ns, now_ns - kWindowNs, now_ns);
    EXPECT_GE(count.AtMost(now_ns), inside);
    EXPECT_LE(count.AtMost(now_ns),
              CountWithin(times_ns, now_ns - kWindowNs * 17 / 16, now_ns));
    EXPECT_LE(count.AtLeast(now_ns), inside);
    EXPECT_GE(count.AtLeast(now_ns),
              CountWithin(times_ns, now_ns - kWindowNs * 15 / 16, now_ns));
    if (times_ns.size() > 2000) times_ns.erase(times_ns.begin());
  }
}

TEST(SlidingCountTest, TheShortestWindowIsANanosecond) {
  SlidingCount count(1);
  count.Add(5, 3);
  EXPECT_EQ(count.AtMost(5), 3);
  EXPECT_EQ(count.AtMost(50), 0);
}

RetryBudget Budget(double ratio, double min_per_second, int64_t window_ns) {
  RetryBudget budget;
  budget.set_ratio(ratio);
  budget.set_min_per_second(min_per_second);
  budget.set_window_ns(window_ns);
  return budget;
}

// Requests come in bursts, and each asks for as many attempts as it can get.
TEST(AttemptBudgetTest, IsNotExceededInAnyWindow) {
  const RetryBudget policy = Budget(0.2, 5, 2 * kSecondNs);
  for (const int workers : {1, 4}) {
    AttemptBudget budget(policy, workers);
    std::mt19937_64 random(2);
    std::vector<int64_t> requests_ns;
    std::vector<int64_t> granted_ns;
    int64_t now_ns = 100 * kSecondNs;
    for (int i = 0; i < 3000; ++i) {
      now_ns += i % 500 == 0 ? 3 * kSecondNs : random() % 2'000'000;
      budget.OnRequest(now_ns);
      requests_ns.push_back(now_ns);
      while (budget.TakeToken(now_ns)) {
        granted_ns.push_back(now_ns);
        const double allowed =
            0.2 *
                CountWithin(requests_ns, now_ns - policy.window_ns(), now_ns) +
            5.0 * 2 / workers;
        ASSERT_LE(CountWithin(granted_ns, now_ns - policy.window_ns(), now_ns),
                  allowed + 1e-9);
      }
    }
    // It is used up, too.
    EXPECT_GT(granted_ns.size(), 0.2 * 0.9 * requests_ns.size());
  }
}

TEST(AttemptBudgetTest, TheMinimumIsNotExceededEither) {
  AttemptBudget budget(Budget(0, 5, 2 * kSecondNs), 1);
  std::vector<int64_t> granted_ns;
  // Not at the border of a step of the window.
  for (int64_t now_ns = kSecondNs * 11 / 10; now_ns < 20 * kSecondNs;
       now_ns += kSecondNs / 100) {
    while (budget.TakeToken(now_ns)) granted_ns.push_back(now_ns);
    ASSERT_LE(CountWithin(granted_ns, now_ns - 2 * kSecondNs, now_ns), 10);
  }
  EXPECT_GT(granted_ns.size(), 85);
}

TEST(AttemptBudgetTest, TheMinimumNeedsNoRequests) {
  AttemptBudget budget(Budget(0, 3, kSecondNs), 1);
  int granted = 0;
  while (budget.TakeToken(kSecondNs)) ++granted;
  EXPECT_EQ(granted, 3);
  EXPECT_FALSE(budget.TakeToken(kSecondNs + kSecondNs / 2));
  EXPECT_TRUE(budget.TakeToken(3 * kSecondNs));
}

using Pass = CircuitBreaker::Pass;
using PassKind = Pass::Kind;

constexpr int64_t kSecond = 1'000'000'000;

CircuitBreakerPolicy TestPolicy() {
  CircuitBreakerPolicy policy;
  policy.set_failure_ratio(0.5);
  policy.set_min_attempts(4);
  policy.set_window_ns(16 * kSecond);
  policy.set_open_ns(5 * kSecond);
  return policy;
}

bool EndOne(CircuitBreaker& breaker, int64_t now_ns, AttemptEnd end) {
  const Pass pass = breaker.Enter(now_ns);
  EXPECT_NE(pass.kind, PassKind::kRefused);
  return breaker.OnEnd(now_ns, pass, end);
}

// Opens it by four failures.
void OpenAt(CircuitBreaker& breaker, int64_t now_ns) {
  for (int i = 1; i <= 4; ++i) {
    EXPECT_EQ(EndOne(breaker, now_ns, AttemptEnd::kFailed), i == 4);
  }
}

TEST(CircuitBreakerTest, OpensAtItsRatioOfEnoughAttempts) {
  CircuitBreaker breaker(TestPolicy());
  EXPECT_FALSE(EndOne(breaker, 0, AttemptEnd::kFailed));
  EXPECT_FALSE(EndOne(breaker, 0, AttemptEnd::kSucceeded));
  EXPECT_FALSE(EndOne(breaker, 0, AttemptEnd::kFailed));
  EXPECT_TRUE(breaker.MayEnter(0));
  // Three are too few; the fourth makes it two of four, although it succeeds.
  EXPECT_TRUE(EndOne(breaker, 0, AttemptEnd::kSucceeded));
  EXPECT_FALSE(breaker.MayEnter(0));
  EXPECT_EQ(breaker.Enter(5 * kSecond - 1).kind, PassKind::kRefused);
}

TEST(CircuitBreakerTest, StaysClosedBelowItsRatio) {
  CircuitBreaker breaker(TestPolicy());
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(EndOne(breaker, i, AttemptEnd::kSucceeded));
    EXPECT_FALSE(EndOne(breaker, i, AttemptEnd::kSucceeded));
    EXPECT_FALSE(EndOne(breaker, i, AttemptEnd::kFailed));
  }
}

TEST(CircuitBreakerTest, ForgetsWhatIsOlderThanItsWindow) {
  CircuitBreaker breaker(TestPolicy());
  for (int i = 0; i < 3; ++i) EndOne(breaker, 0, AttemptEnd::kFailed);
  EXPECT_FALSE(EndOne(breaker, 18 * kSecond, AttemptEnd::kFailed));
}

TEST(CircuitBreakerTest, LetsOneProbeThroughAtATime) {
  CircuitBreaker breaker(TestPolicy());
  OpenAt(breaker, 0);
  EXPECT_TRUE(breaker.MayEnter(5 * kSecond));
  Pass probe = breaker.Enter(5 * kSecond);
  EXPECT_EQ(probe.kind, PassKind::kProbe);
  EXPECT_EQ(breaker.Enter(5 * kSecond).kind, PassKind::kRefused);
  // Its failure opens it for as long again.
  EXPECT_TRUE(breaker.OnEnd(6 * kSecond, probe, AttemptEnd::kFailed));
  EXPECT_EQ(breaker.Enter(11 * kSecond - 1).kind, PassKind::kRefused);
  probe = breaker.Enter(11 * kSecond);
  EXPECT_EQ(probe.kind, PassKind::kProbe);
  // Its success closes it, with an empty window.
  EXPECT_FALSE(breaker.OnEnd(11 * kSecond, probe, AttemptEnd::kSucceeded));
  EXPECT_FALSE(EndOne(breaker, 11 * kSecond, AttemptEnd::kFailed));
  EXPECT_EQ(breaker.Enter(11 * kSecond).kind, PassKind::kAllowed);
}

TEST(CircuitBreakerTest, AProbeThatIsGivenUpMakesRoomForAnother) {
  CircuitBreaker breaker(TestPolicy());
  OpenAt(breaker, 0);
  const Pass probe = breaker.Enter(5 * kSecond);
  EXPECT_EQ(probe.kind, PassKind::kProbe);
  EXPECT_FALSE(breaker.OnEnd(5 * kSecond, probe, AttemptEnd::kGivenUp));
  EXPECT_EQ(breaker.Enter(5 * kSecond).kind, PassKind::kProbe);
}

TEST(CircuitBreakerTest, AttemptsFromBeforeItOpenedSayNothing) {
  CircuitBreaker breaker(TestPolicy());
  const Pass before = breaker.Enter(0);
  EXPECT_EQ(before.kind, PassKind::kAllowed);
  OpenAt(breaker, 0);
  EXPECT_FALSE(breaker.OnEnd(1, before, AttemptEnd::kSucceeded));
  EXPECT_FALSE(breaker.MayEnter(1));
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(breaker.OnEnd(4 * kSecond, before, AttemptEnd::kFailed));
  }
  EXPECT_TRUE(breaker.MayEnter(5 * kSecond));
  EXPECT_FALSE(EndOne(breaker, 5 * kSecond, AttemptEnd::kSucceeded));
  // It is closed again.
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(breaker.OnEnd(6 * kSecond, before, AttemptEnd::kFailed));
  }
  OpenAt(breaker, 6 * kSecond);
}

TEST(CircuitBreakerTest, AttemptsThatAreGivenUpSayNothing) {
  CircuitBreaker breaker(TestPolicy());
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(EndOne(breaker, 0, AttemptEnd::kGivenUp));
  }
}

ConcurrencyLimitPolicy Limit(int limit, const std::string& kind = "fixed") {
  ConcurrencyLimitPolicy policy;
  policy.set_kind(kind);
  policy.set_limit(limit);
  return policy;
}

TEST(ConcurrencyLimitTest, AFixedLimitDoesNotChange) {
  ConcurrencyLimit limit(Limit(2), 0, 1);
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
    sum += ConcurrencyLimit(Limit(20), worker, 3).limit();
  }
  EXPECT_EQ(sum, 20);
  EXPECT_EQ(ConcurrencyLimit(Limit(2), /*worker=*/3, 4).limit(), 1);
}

TEST(ConcurrencyLimitTest, EachWorkerKnowsTheWholeLimit) {
  for (int worker = 0; worker < 3; ++worker) {
    EXPECT_EQ(ConcurrencyLimit(Limit(20), worker, 3).of_all_workers(), 20);
    // Each has at least 1.
    EXPECT_EQ(ConcurrencyLimit(Limit(2), worker, 3).of_all_workers(), 3);
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
    ConcurrencyLimit limit(Limit(start, "aimd"), 0, 1);
    const Averages averages = RunAgainstCapacity(limit, 50);
    EXPECT_GE(averages.least, 44) << start;
    EXPECT_LE(averages.most, 51) << start;
    EXPECT_NEAR(averages.limit, (0.9 * 51 + 51) / 2, 1.5) << start;
  }
}

TEST(ConcurrencyLimitTest, AimdStaysInItsRange) {
  ConcurrencyLimitPolicy policy = Limit(10, "aimd");
  policy.set_min_limit(5);
  policy.set_max_limit(12);
  ConcurrencyLimit limit(policy, 0, 1);
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
  for (const char* kind : {"aimd", "gradient"}) {
    ConcurrencyLimit limit(Limit(20, kind), 0, 1);
    for (int i = 0; i < 10'000; ++i) {
      limit.OnStart();
      limit.OnEnd(AttemptEnd::kSucceeded, 100);
    }
    EXPECT_EQ(limit.limit(), 20);
  }
}

TEST(ConcurrencyLimitTest, WhatIsGivenUpChangesNothing) {
  for (const char* kind : {"aimd", "gradient"}) {
    ConcurrencyLimit limit(Limit(20, kind), 0, 1);
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
      ConcurrencyLimit limit(Limit(start, "gradient"), 0, 1);
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

constexpr int64_t kMs = 1'000'000;

RetryPolicy PolicyWith(const std::string& jitter) {
  RetryPolicy policy;
  policy.set_initial_backoff_ns(10 * kMs);
  policy.set_max_backoff_ns(150 * kMs);
  policy.set_multiplier(2);
  policy.set_jitter(jitter);
  return policy;
}

TEST(BackoffTest, GrowsToItsMaximum) {
  std::mt19937_64 random(1);
  const RetryPolicy policy = PolicyWith("none");
  EXPECT_EQ(BackoffNs(policy, 1, random), 10 * kMs);
  EXPECT_EQ(BackoffNs(policy, 2, random), 20 * kMs);
  EXPECT_EQ(BackoffNs(policy, 4, random), 80 * kMs);
  EXPECT_EQ(BackoffNs(policy, 5, random), 150 * kMs);
  EXPECT_EQ(BackoffNs(policy, 99, random), 150 * kMs);
}

TEST(BackoffTest, NeverOverflows) {
  std::mt19937_64 random(1);
  RetryPolicy policy = PolicyWith("none");
  policy.set_multiplier(1000);
  EXPECT_EQ(BackoffNs(policy, 99, random), 150 * kMs);
  policy.set_multiplier(1);
  EXPECT_EQ(BackoffNs(policy, 99, random), 10 * kMs);
  policy.set_initial_backoff_ns(0);
  policy.set_max_backoff_ns(0);
  EXPECT_EQ(BackoffNs(policy, 2, random), 0);
}

// The means and bounds of uniform times.
TEST(BackoffTest, JitterHasItsBounds) {
  struct Case {
    std::string jitter;
    int64_t least_ns;
  };
  for (const auto& [jitter, least_ns] :
       {Case{"full", 0}, Case{"equal", 20 * kMs}}) {
    std::mt19937_64 random(3);
    constexpr int kDraws = 20'000;
    int64_t least = 1'000 * kMs;
    int64_t most = 0;
    double sum = 0;
    for (int i = 0; i < kDraws; ++i) {
      const int64_t pause_ns = BackoffNs(PolicyWith(jitter), 3, random);
      least = std::min(least, pause_ns);
      most = std::max(most, pause_ns);
      sum += static_cast<double>(pause_ns);
    }
    EXPECT_GE(least, least_ns);
    EXPECT_LT(least, least_ns + kMs);
    EXPECT_LE(most, 40 * kMs);
    EXPECT_GT(most, 39 * kMs);
    EXPECT_NEAR(sum / kDraws, (least_ns + 40.0 * kMs) / 2, 0.3 * kMs);
  }
}

TEST(HedgeDelayTest, AFixedDelayDoesNotChange) {
  HedgeDelay delay(base::FromText<HedgingPolicy>("delay_ns: 5"));
  for (int i = 0; i < 1000; ++i) delay.OnFirstEnd(1'000'000);
  EXPECT_EQ(delay.delay_ns(), 5);
}

TEST(HedgeDelayTest, APercentileNeedsAHundredTimes) {
  HedgeDelay delay(base::FromText<HedgingPolicy>("percentile: 90"));
  for (int i = 1; i < 100; ++i) delay.OnFirstEnd(i * 1000);
  EXPECT_EQ(delay.delay_ns(), HedgeDelay::kNever);
  delay.OnFirstEnd(100'000);
  EXPECT_NEAR(delay.delay_ns(), 90'000, 1500);
}

TEST(HedgeDelayTest, APercentileFollowsTheTimes) {
  HedgeDelay delay(base::FromText<HedgingPolicy>("percentile: 50"));
  for (int i = 0; i < 1000; ++i) delay.OnFirstEnd(1000);
  EXPECT_NEAR(delay.delay_ns(), 1000, 20);
  for (int i = 0; i < 1100; ++i) delay.OnFirstEnd(9000);
  EXPECT_NEAR(delay.delay_ns(), 9000, 100);
}

}  // namespace
}  // namespace distbench::engine
