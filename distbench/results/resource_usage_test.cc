// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/results/resource_usage.h"

#include <ctime>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace distbench::results {
namespace {

TEST(ResourceUsageTest, ReportsThisProcess) {
  while (clock() < CLOCKS_PER_SEC / 100) {
  }
  const RUsage usage = ProcessUsage();
  EXPECT_GT(usage.user_cpu_time_seconds() + usage.system_cpu_time_seconds(),
            0.005);
  EXPECT_GT(usage.max_resident_set_size(), 0);
}

TEST(ResourceUsageTest, DifferenceCoversEveryCountButNotTheMaximum) {
  RUsage start;
  start.set_user_cpu_time_seconds(1.5);
  start.set_max_resident_set_size(1000);
  start.set_voluntary_context_switches(3);
  RUsage end;
  end.set_user_cpu_time_seconds(2.25);
  end.set_max_resident_set_size(1500);
  end.set_voluntary_context_switches(10);

  const RUsageStats stats = UsageBetween(start, end);
  EXPECT_EQ(stats.rusage_start().max_resident_set_size(), 1000);
  EXPECT_DOUBLE_EQ(stats.rusage_diff().user_cpu_time_seconds(), 0.75);
  EXPECT_EQ(stats.rusage_diff().max_resident_set_size(), 1500);
  EXPECT_EQ(stats.rusage_diff().voluntary_context_switches(), 7);
}

TEST(ResourceUsageTest, AHostHasAtLeastTheCpusThatItsNodeMayUse) {
  HostFacts host;
  EXPECT_EQ(CpuCountOf(host), 0);
  host.set_cpu_count(4);
  EXPECT_EQ(CpuCountOf(host), 4);
  host.set_online_cpu_count(8);
  EXPECT_EQ(CpuCountOf(host), 8);
  host.set_online_cpu_count(-1);  // sysconf(3) failed
  EXPECT_EQ(CpuCountOf(host), 4);
}

// Levels are no counts.
TEST(GroupUseTest, MemoryIsThatOfTheEnd) {
  GroupUse sum;
  sum.set_cpu_ns(10);
  sum.set_memory_bytes(100);
  sum.set_swap_bytes(7);
  GroupUse later;
  later.set_cpu_ns(20);
  later.set_memory_bytes(50);
  AppendUse(later, sum);
  EXPECT_EQ(sum.cpu_ns(), 30);
  EXPECT_EQ(sum.memory_bytes(), 50);
  EXPECT_EQ(sum.swap_bytes(), 7);
  EXPECT_FALSE(sum.has_read_bytes());
}

TEST(GroupUseTest, IntervalsAreOfTotalsButNotOfLevels) {
  GroupUse earlier;
  earlier.set_cpu_ns(10);
  earlier.set_memory_bytes(5);
  earlier.set_read_bytes(3);
  GroupUse later;
  later.set_cpu_ns(25);
  later.set_memory_bytes(7);
  later.set_swap_bytes(1);
  later.set_throttled_ns(4);
  const GroupUse use = UseBetween(earlier, later);
  EXPECT_EQ(use.cpu_ns(), 15);
  EXPECT_EQ(use.memory_bytes(), 7);
  EXPECT_EQ(use.swap_bytes(), 1);
  EXPECT_EQ(use.throttled_ns(), 4);
  EXPECT_FALSE(use.has_read_bytes());
}

TEST(HostCountersTest, StolenAndIdleTimeIsNotBusy) {
  HostCounters counters;
  counters.set_user_cpu_ns(1);
  counters.set_system_cpu_ns(2);
  counters.set_irq_cpu_ns(4);
  counters.set_softirq_cpu_ns(8);
  counters.set_steal_cpu_ns(16);
  counters.set_idle_cpu_ns(32);
  counters.set_iowait_cpu_ns(64);
  EXPECT_EQ(BusyCpuNs(counters), 15);
}

}  // namespace
}  // namespace distbench::results
