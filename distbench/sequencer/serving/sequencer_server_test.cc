// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/serving/sequencer_server.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(NodeLimitTest, IsTheFlagIfThereAreEnoughFiles) {
  const NodeLimit limit = LimitNodes(10'000, 1000, 11'200);
  EXPECT_EQ(limit.count, 10'000);
  EXPECT_THAT(limit.remedy,
              AllOf(HasSubstr("--max_nodes"), HasSubstr("--size")));
}

TEST(NodeLimitTest, LeavesFilesForClients) {
  const NodeLimit limit = LimitNodes(10'000, 256, 1024);
  EXPECT_EQ(limit.count, 568);
  EXPECT_THAT(limit.remedy,
              AllOf(HasSubstr("1024 files"), HasSubstr("ulimit -Hn"),
                    HasSubstr("at least 11200")));
}

TEST(NodeLimitTest, EndedRunsTakeAQuarterOfTheFilesAtMost) {
  EXPECT_EQ(LimitEndedRuns(1000, 4000), 1000);
  EXPECT_EQ(LimitEndedRuns(1000, 1024), 256);
}

TEST(NodeLimitTest, OneNodeIsAlwaysTried) {
  EXPECT_EQ(LimitNodes(10'000, 16, 64).count, 1);
}

}  // namespace
}  // namespace distbench::sequencer
