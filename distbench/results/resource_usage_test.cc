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

}  // namespace
}  // namespace distbench::results
