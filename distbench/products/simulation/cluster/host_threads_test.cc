#include "distbench/products/simulation/cluster/host_threads.h"

#include <algorithm>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::simulation {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

using Calls = std::vector<std::vector<int>>;

TEST(HostThreadsTest, OneThreadHasAll) {
  EXPECT_THAT(HostThreads({{1}, {2}, {0}}, 1), Each(0));
  EXPECT_THAT(HostThreads({}, 2), IsEmpty());
}

TEST(HostThreadsTest, PairsStayTogether) {
  // Clients 0 to 3, then their servers.
  EXPECT_THAT(HostThreads({{4}, {5}, {6}, {7}, {}, {}, {}, {}}, 2),
              ElementsAre(0, 0, 1, 1, 0, 0, 1, 1));
}

TEST(HostThreadsTest, ServersThatComeFirstFollowTheirClients) {
  EXPECT_THAT(HostThreads({{}, {}, {}, {}, {0}, {1}, {2}, {3}}, 2),
              ElementsAre(0, 0, 1, 1, 0, 0, 1, 1));
}

TEST(HostThreadsTest, TreesStayTogetherAsFarAsTheyAreEqual) {
  // 0 calls 1 and 2, which call three leaves each.
  EXPECT_THAT(
      HostThreads({{1, 2}, {3, 4, 5}, {6, 7, 8}, {}, {}, {}, {}, {}, {}}, 2),
      ElementsAre(0, 0, 1, 0, 0, 1, 1, 1, 1));
}

TEST(HostThreadsTest, ACallerOfManyIsMuchWork) {
  Calls calls(11);
  for (int i = 1; i <= 10; ++i) calls[0].push_back(i);
  const std::vector<int> threads = HostThreads(calls, 2);
  EXPECT_EQ(threads[0], 0);
  EXPECT_EQ(std::count(threads.begin(), threads.end(), 0), 3);
}

TEST(HostThreadsTest, HostsWithoutCallsAreSharedOut) {
  EXPECT_THAT(HostThreads(Calls(6), 3), ElementsAre(0, 0, 1, 1, 2, 2));
}

TEST(HostThreadsTest, EveryThreadIsUsedByAClique) {
  Calls calls(9);
  for (int i = 0; i < 9; ++i) {
    for (int j = 1; j < 9; ++j) calls[i].push_back((i + j) % 9);
  }
  const std::vector<int> threads = HostThreads(calls, 3);
  for (int thread = 0; thread < 3; ++thread) {
    EXPECT_EQ(std::count(threads.begin(), threads.end(), thread), 3);
  }
}

}  // namespace
}  // namespace distbench::simulation
