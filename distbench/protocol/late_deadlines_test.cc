#include "distbench/protocol/late_deadlines.h"

#include "gtest/gtest.h"

namespace distbench::protocol {
namespace {

constexpr int64_t kDueNs = 1'000'000'000;
constexpr int64_t kLateNs = LateDeadlines::kLateNs;

TEST(LateDeadlinesTest, JudgesAtOnceIfTheWorkerWasThere) {
  LateDeadlines late;
  EXPECT_TRUE(late.MayJudge(kDueNs, kDueNs, /*nothing_left=*/false));
  EXPECT_TRUE(late.MayJudge(kDueNs, kDueNs + kLateNs, /*nothing_left=*/false));
}

TEST(LateDeadlinesTest, ReadsFirstAfterAStandstill) {
  LateDeadlines late;
  const int64_t now_ns = kDueNs + 2 * kLateNs;
  // What was found before the standstill says nothing.
  EXPECT_FALSE(late.MayJudge(kDueNs, now_ns, /*nothing_left=*/true));
  EXPECT_FALSE(late.MayJudge(kDueNs, now_ns + 1, /*nothing_left=*/false));
  EXPECT_TRUE(late.MayJudge(kDueNs, now_ns + 2, /*nothing_left=*/true));
  // The next standstill is another one.
  EXPECT_FALSE(late.MayJudge(kDueNs, now_ns + 3, /*nothing_left=*/true));
}

TEST(LateDeadlinesTest, DoesNotReadForever) {
  LateDeadlines late;
  const int64_t now_ns = kDueNs + 3 * kLateNs;
  EXPECT_FALSE(late.MayJudge(kDueNs, now_ns, /*nothing_left=*/false));
  EXPECT_FALSE(late.MayJudge(kDueNs, now_ns + 3 * kLateNs - 1,
                             /*nothing_left=*/false));
  EXPECT_TRUE(
      late.MayJudge(kDueNs, now_ns + 3 * kLateNs, /*nothing_left=*/false));
}

}  // namespace
}  // namespace distbench::protocol
