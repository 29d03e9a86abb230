#include "distbench/engine/policies/attempt_budget.h"

#include <algorithm>
#include <random>
#include <vector>

#include "distbench/engine/policies/sliding_count.h"
#include "gtest/gtest.h"

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

// Requests come in bursts, and each asks for as many attempts as it can get.
TEST(AttemptBudgetTest, IsNotExceededInAnyWindow) {
  const config::RetryBudgetPlan plan = {
      .ratio = 0.2, .min_per_second = 5, .window_ns = 2 * kSecondNs};
  for (const int workers : {1, 4}) {
    AttemptBudget budget(plan, workers);
    std::mt19937_64 random(2);
    std::vector<int64_t> requests_ns;
    std::vector<int64_t> granted_ns;
    int64_t now_ns = 100 * kSecondNs;
    for (int i = 0; i < 3000; ++i) {
      now_ns += i % 500 == 0 ? 3 * kSecondNs : random() % 2'000'000;
      budget.OnRequest(now_ns);
      requests_ns.push_back(now_ns);
      while (budget.Take(now_ns)) {
        granted_ns.push_back(now_ns);
        const double allowed =
            0.2 * CountWithin(requests_ns, now_ns - plan.window_ns, now_ns) +
            5.0 * 2 / workers;
        ASSERT_LE(CountWithin(granted_ns, now_ns - plan.window_ns, now_ns),
                  allowed + 1e-9);
      }
    }
    // It is used up, too.
    EXPECT_GT(granted_ns.size(), 0.2 * 0.9 * requests_ns.size());
  }
}

TEST(AttemptBudgetTest, TheMinimumIsNotExceededEither) {
  AttemptBudget budget(
      {.ratio = 0, .min_per_second = 5, .window_ns = 2 * kSecondNs}, 1);
  std::vector<int64_t> granted_ns;
  // Not at the border of a step of the window.
  for (int64_t now_ns = kSecondNs * 11 / 10; now_ns < 20 * kSecondNs;
       now_ns += kSecondNs / 100) {
    while (budget.Take(now_ns)) granted_ns.push_back(now_ns);
    ASSERT_LE(CountWithin(granted_ns, now_ns - 2 * kSecondNs, now_ns), 10);
  }
  EXPECT_GT(granted_ns.size(), 85);
}

TEST(AttemptBudgetTest, TheMinimumNeedsNoRequests) {
  AttemptBudget budget(
      {.ratio = 0, .min_per_second = 3, .window_ns = kSecondNs}, 1);
  int granted = 0;
  while (budget.Take(kSecondNs)) ++granted;
  EXPECT_EQ(granted, 3);
  EXPECT_FALSE(budget.Take(kSecondNs + kSecondNs / 2));
  EXPECT_TRUE(budget.Take(3 * kSecondNs));
}

}  // namespace
}  // namespace distbench::engine
