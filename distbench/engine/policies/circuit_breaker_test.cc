#include "distbench/engine/policies/circuit_breaker.h"

#include "gtest/gtest.h"

namespace distbench::engine {
namespace {

using Pass = CircuitBreaker::Pass;
using PassKind = Pass::Kind;

constexpr int64_t kSecond = 1'000'000'000;

config::CircuitBreakerPlan TestPlan() {
  return {.failure_ratio = 0.5,
          .min_attempts = 4,
          .window_ns = 16 * kSecond,
          .open_ns = 5 * kSecond};
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
  CircuitBreaker breaker(TestPlan());
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
  CircuitBreaker breaker(TestPlan());
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(EndOne(breaker, i, AttemptEnd::kSucceeded));
    EXPECT_FALSE(EndOne(breaker, i, AttemptEnd::kSucceeded));
    EXPECT_FALSE(EndOne(breaker, i, AttemptEnd::kFailed));
  }
}

TEST(CircuitBreakerTest, ForgetsWhatIsOlderThanItsWindow) {
  CircuitBreaker breaker(TestPlan());
  for (int i = 0; i < 3; ++i) EndOne(breaker, 0, AttemptEnd::kFailed);
  EXPECT_FALSE(EndOne(breaker, 18 * kSecond, AttemptEnd::kFailed));
}

TEST(CircuitBreakerTest, LetsOneProbeThroughAtATime) {
  CircuitBreaker breaker(TestPlan());
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
  CircuitBreaker breaker(TestPlan());
  OpenAt(breaker, 0);
  const Pass probe = breaker.Enter(5 * kSecond);
  EXPECT_EQ(probe.kind, PassKind::kProbe);
  EXPECT_FALSE(breaker.OnEnd(5 * kSecond, probe, AttemptEnd::kGivenUp));
  EXPECT_EQ(breaker.Enter(5 * kSecond).kind, PassKind::kProbe);
}

TEST(CircuitBreakerTest, AttemptsFromBeforeItOpenedSayNothing) {
  CircuitBreaker breaker(TestPlan());
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
  CircuitBreaker breaker(TestPlan());
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(EndOne(breaker, 0, AttemptEnd::kGivenUp));
  }
}

}  // namespace
}  // namespace distbench::engine
