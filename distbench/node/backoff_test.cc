// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/backoff.h"

#include "distbench/base/testing/fake_clock.h"
#include "gtest/gtest.h"

namespace distbench::node {
namespace {

class BackoffTest : public testing::Test {
 protected:
  // Returns the delay after an attempt of this duration.
  absl::Duration DelayAfter(absl::Duration lasted, bool was_success) {
    backoff_.Begin();
    clock_.Advance(absl::ToInt64Nanoseconds(lasted));
    return backoff_.Next(was_success);
  }

  // Expects delays that grow from the shortest to the longest, and no further.
  void ExpectGrowth(absl::Duration lasted, bool was_success) {
    absl::Duration expected = Backoff::kFirst;
    for (int i = 0; i < 10; ++i) {
      const absl::Duration delay = DelayAfter(lasted, was_success);
      EXPECT_LE(delay, expected);
      EXPECT_GE(delay, 0.79 * expected);
      expected = std::min(2 * expected, Backoff::kLongest);
    }
    EXPECT_EQ(expected, Backoff::kLongest);
  }

  base::FakeClock clock_;
  Backoff backoff_{clock_};
};

TEST_F(BackoffTest, GrowsToItsLongest) {
  ExpectGrowth(absl::ZeroDuration(), /*was_success=*/false);
}

TEST_F(BackoffTest, GrowsHoweverLongFailuresTake) {
  ExpectGrowth(absl::Seconds(10), /*was_success=*/false);
}

TEST_F(BackoffTest, GrowsIfSuccessesDoNotLast) {
  ExpectGrowth(Backoff::kLongest - absl::Nanoseconds(1), /*was_success=*/true);
}

TEST_F(BackoffTest, BeginsAnewAfterASuccessThatLasted) {
  ExpectGrowth(absl::ZeroDuration(), /*was_success=*/false);
  EXPECT_LE(DelayAfter(Backoff::kLongest, /*was_success=*/true),
            Backoff::kFirst);
}

}  // namespace
}  // namespace distbench::node
