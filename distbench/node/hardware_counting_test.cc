// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/node/hardware_counting.h"

#include <cerrno>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::node {
namespace {

using ::testing::HasSubstr;

// Either counts or says why it does not, depending on the host.
TEST(HardwareCountingTest, CountsOrSaysWhyNot) {
  const HardwareCounting counting;
  const HardwareCounters before = counting.Read();
  if (!counting.problem().empty()) {
    EXPECT_EQ(before.ByteSizeLong(), 0u);
    return;
  }
  const HardwareCounters after = counting.Read();
  EXPECT_GT(after.ByteSizeLong(), 0u);
  EXPECT_GE(after.cycles(), before.cycles());
  EXPECT_GE(after.instructions(), before.instructions());
}

TEST(ScaledCountTest, CompensatesForTheTimeWithoutACounter) {
  EXPECT_EQ(ScaledCount(100, 1000, 1000), 100);
  EXPECT_EQ(ScaledCount(100, 1000, 250), 400);
  EXPECT_EQ(ScaledCount(100, 1000, 0), 0);
}

TEST(CountingProblemTest, NamesTheRemedy) {
  EXPECT_THAT(CountingProblem(EACCES), HasSubstr("perf_event_paranoid"));
  EXPECT_THAT(CountingProblem(ENOENT), HasSubstr("virtual machine"));
  EXPECT_THAT(CountingProblem(EMFILE), HasSubstr("ulimit -n"));
}

}  // namespace
}  // namespace distbench::node
