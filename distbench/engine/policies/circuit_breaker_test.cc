#include "distbench/engine/policies/circuit_breaker.h"

#include "gtest/gtest.h"

namespace distbench {
namespace {

using Pass = CircuitBreaker::Pass;

constexpr int64_t kSecond = 1'000'000'000;

CircuitBreakerPlan TestPlan() {
  return {.failure_ratio = 0.5,
          .min_attempts = 4,
          .window_ns = 16 * kSecond,
          .open_ns = 5 * kSecond};
}

bool EndOne(CircuitBreaker& breaker, int64_t now_ns, AttemptEnd end) {
  const Pass pass = breaker.Enter(now_ns);
  EXPECT_NE(pass, Pass::kRefused);
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
  EXPECT_EQ(breaker.Enter(5 * kSecond - 1), Pass::kRefused);
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
  EXPECT_EQ(breaker.Enter(5 * kSecond), Pass::kProbe);
  EXPECT_EQ(breaker.Enter(5 * kSecond), Pass::kRefused);
  // Its failure opens it for as long again.
  EXPECT_TRUE(breaker.OnEnd(6 * kSecond, Pass::kProbe, AttemptEnd::kFailed));
  EXPECT_EQ(breaker.Enter(11 * kSecond - 1), Pass::kRefused);
  EXPECT_EQ(breaker.Enter(11 * kSecond), Pass::kProbe);
  // Its success closes it, with an empty window.
  EXPECT_FALSE(
      breaker.OnEnd(11 * kSecond, Pass::kProbe, AttemptEnd::kSucceeded));
  EXPECT_FALSE(EndOne(breaker, 11 * kSecond, AttemptEnd::kFailed));
  EXPECT_EQ(breaker.Enter(11 * kSecond), Pass::kAllowed);
}

TEST(CircuitBreakerTest, AProbeThatIsGivenUpMakesRoomForAnother) {
  CircuitBreaker breaker(TestPlan());
  OpenAt(breaker, 0);
  EXPECT_EQ(breaker.Enter(5 * kSecond), Pass::kProbe);
  EXPECT_FALSE(breaker.OnEnd(5 * kSecond, Pass::kProbe, AttemptEnd::kGivenUp));
  EXPECT_EQ(breaker.Enter(5 * kSecond), Pass::kProbe);
}

TEST(CircuitBreakerTest, AttemptsFromBeforeItOpenedSayNothing) {
  CircuitBreaker breaker(TestPlan());
  EXPECT_EQ(breaker.Enter(0), Pass::kAllowed);
  OpenAt(breaker, 0);
  EXPECT_FALSE(breaker.OnEnd(1, Pass::kAllowed, AttemptEnd::kSucceeded));
  EXPECT_FALSE(breaker.MayEnter(1));
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(
        breaker.OnEnd(4 * kSecond, Pass::kAllowed, AttemptEnd::kFailed));
  }
  EXPECT_TRUE(breaker.MayEnter(5 * kSecond));
}

TEST(CircuitBreakerTest, AttemptsThatAreGivenUpSayNothing) {
  CircuitBreaker breaker(TestPlan());
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(EndOne(breaker, 0, AttemptEnd::kGivenUp));
  }
}

}  // namespace
}  // namespace distbench
