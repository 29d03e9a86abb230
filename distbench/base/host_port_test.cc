#include "distbench/base/host_port.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

using ::testing::Pair;

TEST(HostPortTest, JoinsWithBracketsWhereTheyAreNeeded) {
  EXPECT_EQ(JoinHostPort("node7", 1), "node7:1");
  EXPECT_EQ(JoinHostPort("1.2.3.4", 567), "1.2.3.4:567");
  EXPECT_EQ(JoinHostPort("1::2", 567), "[1::2]:567");
}

TEST(HostPortTest, SplitsWhatItJoins) {
  EXPECT_THAT(SplitHostPort("node7:1"), Pair("node7", "1"));
  EXPECT_THAT(SplitHostPort("[1::2]:567"), Pair("1::2", "567"));
  EXPECT_THAT(SplitHostPort(":80"), Pair("", "80"));
  EXPECT_THAT(SplitHostPort("node7"), Pair("node7", ""));
  EXPECT_THAT(SplitHostPort(""), Pair("", ""));
}

}  // namespace
}  // namespace distbench
