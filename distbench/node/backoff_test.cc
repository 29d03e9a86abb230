#include "distbench/node/backoff.h"

#include "gtest/gtest.h"

namespace distbench {
namespace {

TEST(BackoffTest, GrowsToItsLongest) {
  Backoff backoff;
  absl::Duration expected = Backoff::kFirst;
  for (int i = 0; i < 10; ++i) {
    const absl::Duration delay = backoff.Next();
    EXPECT_LE(delay, expected);
    EXPECT_GE(delay, 0.79 * expected);
    expected = std::min(2 * expected, Backoff::kLongest);
  }
  EXPECT_EQ(expected, Backoff::kLongest);
  backoff.Reset();
  EXPECT_LE(backoff.Next(), Backoff::kFirst);
}

}  // namespace
}  // namespace distbench
