// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/cluster/shares.h"

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

// `senders` clients that call 10 000 servers.
config::Plan PlanWith(int senders) {
  config::Plan plan;
  plan.recording_memory_bytes = 1000;
  plan.sample_memory_bytes = 500;
  plan.services.resize(2);
  plan.services[0].instance_count = senders;
  plan.services[1].instance_count = 10'000;
  plan.services[1].first_instance = 1;
  // One of each service is enough to ask.
  plan.instances.resize(2);
  plan.instances[1].service = 1;
  plan.rpcs.resize(2);
  plan.rpcs[0].client_services = {0};
  plan.rpcs[1].client_services = {0};
  return plan;
}

TEST(MemorySharesTest, FewInstancesHaveWhatTheTestAllows) {
  const MemoryShares shares = ShareMemory(PlanWith(2), 10'000);
  EXPECT_EQ(shares.recording_bytes, 1000);
  EXPECT_EQ(shares.sample_bytes, 1000);
}

TEST(MemorySharesTest, ManySendersShareWhatThereIs) {
  const MemoryShares shares = ShareMemory(PlanWith(100), 10'000);
  EXPECT_EQ(shares.recording_bytes, 80);
  EXPECT_EQ(shares.sample_bytes, 20);
}

TEST(MemorySharesTest, ReplayingInstancesSendToo) {
  config::Plan plan = PlanWith(2);
  plan.replay_traces.emplace_back().client_service = 1;
  EXPECT_LE(ShareMemory(plan, 10'000).recording_bytes, 1);
}

// Series of activities may have a quarter of what an instance records.
TEST(MemorySharesTest, InstancesWithActivitiesRecordToo) {
  config::Plan plan = PlanWith(100);
  plan.rpcs[0].server_service = 1;
  plan.rpcs[0].handler_list = 0;
  plan.activities.resize(1);
  config::ActionPlan& action = plan.lists.emplace_back().actions.emplace_back();
  action.kind = config::ActionPlan::Kind::kActivity;
  action.target = 0;
  // As much as 100 + 10'000 / 4 senders.
  EXPECT_EQ(ShareMemory(plan, 26'000'000 / 8).recording_bytes, 1000);
  EXPECT_EQ(ShareMemory(plan, 26'000'000 / 16).recording_bytes, 500);
  EXPECT_EQ(ShareMemory(plan, 10'000).sample_bytes, 20);
}

TEST(MemorySharesTest, AnEmptyPlanHasNoShares) {
  EXPECT_EQ(ShareMemory(config::Plan(), 10'000).recording_bytes, 0);
}

}  // namespace
}  // namespace distbench::simulation
