// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/launching/job/patience.h"

#include <vector>

#include "distbench/base/testing/fake_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::launching {
namespace {

class PatienceTest : public testing::Test {
 protected:
  Patience::Pause Advance() {
    return [this](absl::Duration pause) {
      pauses_.push_back(pause);
      clock_.Advance(absl::ToInt64Nanoseconds(pause));
      return true;
    };
  }

  base::FakeClock clock_;
  std::vector<absl::Duration> pauses_;
};

TEST_F(PatienceTest, PausesGrowUntilTheDeadline) {
  Patience patience(absl::Seconds(10), clock_, Advance());
  while (patience.WaitForNext()) {
  }
  EXPECT_EQ(pauses_.front(), Patience::kFirst);
  absl::Duration total = absl::ZeroDuration();
  for (size_t i = 0; i < pauses_.size(); ++i) {
    EXPECT_LE(pauses_[i], Patience::kLongest);
    if (i > 0 && i + 1 < pauses_.size()) {
      EXPECT_GE(pauses_[i], pauses_[i - 1]);
    }
    total += pauses_[i];
  }
  // The clock has no parts of nanoseconds.
  EXPECT_EQ(absl::Floor(total, absl::Microseconds(1)), absl::Seconds(10));
  EXPECT_EQ(patience.left(), absl::ZeroDuration());
  EXPECT_FALSE(patience.was_ended());
  // A few dozen looks at a shared file system within a minute, not thousands.
  EXPECT_LT(pauses_.size(), 30);
}

TEST_F(PatienceTest, TimeOfAttemptsCounts) {
  Patience patience(absl::Seconds(10), clock_, Advance());
  ASSERT_TRUE(patience.WaitForNext());
  clock_.Advance(absl::ToInt64Nanoseconds(absl::Seconds(60)));
  EXPECT_FALSE(patience.WaitForNext());
  EXPECT_EQ(patience.left(), absl::ZeroDuration());
}

TEST_F(PatienceTest, EndsWhenItIsToldTo) {
  Patience patience(absl::Seconds(10), clock_,
                    [](absl::Duration) { return false; });
  EXPECT_FALSE(patience.WaitForNext());
  EXPECT_TRUE(patience.was_ended());
  EXPECT_FALSE(patience.WaitForNext());
}

}  // namespace
}  // namespace distbench::launching
