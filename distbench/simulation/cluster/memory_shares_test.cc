#include "distbench/simulation/cluster/memory_shares.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench {
namespace {

// `senders` clients that call 10 000 servers.
Plan PlanWith(int senders) {
  Plan plan;
  plan.recording_memory_bytes = 1000;
  plan.sample_memory_bytes = 500;
  plan.services.resize(2);
  plan.services[0].instance_count = senders;
  plan.services[1].instance_count = 10'000;
  plan.rpcs.resize(2);
  plan.rpcs[0].client_services = {0};
  plan.rpcs[1].client_services = {0};
  return plan;
}

TEST(MemorySharesTest, FewInstancesHaveWhatTheTestAllows) {
  const MemoryShares shares = ShareMemory(PlanWith(2), 10'000);
  EXPECT_EQ(shares.recording_bytes, 1000);
  EXPECT_EQ(shares.sample_bytes, 500);
}

TEST(MemorySharesTest, ManySendersShareWhatThereIs) {
  const MemoryShares shares = ShareMemory(PlanWith(100), 10'000);
  EXPECT_EQ(shares.recording_bytes, 80);
  EXPECT_EQ(shares.sample_bytes, 20);
}

TEST(MemorySharesTest, ReplayingInstancesSendToo) {
  Plan plan = PlanWith(2);
  plan.replay_traces.emplace_back().client_service = 1;
  EXPECT_LE(ShareMemory(plan, 10'000).recording_bytes, 1);
}

TEST(MemorySharesTest, AnEmptyPlanHasNoShares) {
  EXPECT_EQ(ShareMemory(Plan(), 10'000).recording_bytes, 0);
}

}  // namespace
}  // namespace distbench
