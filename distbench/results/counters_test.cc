#include "distbench/results/counters.h"

#include <cstdint>
#include <limits>
#include <optional>

#include "gtest/gtest.h"

namespace distbench::results {
namespace {

TEST(CountersTest, SumsHaveTheCountersOfEither) {
  HostCounters sum;
  sum.set_user_cpu_ns(1);
  sum.set_steal_cpu_ns(10);
  HostCounters more;
  more.set_user_cpu_ns(2);
  more.set_throttled_ns(5);
  AddCounters(more, sum);
  EXPECT_EQ(sum.user_cpu_ns(), 3);
  EXPECT_EQ(sum.steal_cpu_ns(), 10);
  EXPECT_EQ(sum.throttled_ns(), 5);
  EXPECT_FALSE(sum.has_idle_cpu_ns());
}

TEST(CountersTest, SumsDoNotOverflow) {
  HostCounters sum;
  sum.set_user_cpu_ns(std::numeric_limits<int64_t>::max());
  AddCounters(HostCounters(sum), sum);
  EXPECT_EQ(sum.user_cpu_ns(), std::numeric_limits<int64_t>::max());
}

TEST(CountersTest, DifferencesAreOfCountersThatBothReadingsHave) {
  HostCounters start;
  start.set_user_cpu_ns(4);
  start.set_idle_cpu_ns(9);
  start.set_io_pressure_ns(7);
  HostCounters counted;
  counted.set_user_cpu_ns(6);
  counted.set_idle_cpu_ns(8);
  counted.set_throttled_ns(100);
  SubtractCounters(start, counted);
  EXPECT_EQ(counted.user_cpu_ns(), 2);
  EXPECT_EQ(counted.idle_cpu_ns(), 0) << "it went backwards";
  EXPECT_FALSE(counted.has_throttled_ns());
  EXPECT_FALSE(counted.has_io_pressure_ns());
}

TEST(CountersTest, ListsAreOfAllCounters) {
  HostCounters counters;
  counters.set_system_cpu_ns(5);
  const auto list = ListCounters(counters);
  ASSERT_EQ(list.size(), HostCounters::descriptor()->field_count());
  EXPECT_EQ(list[0].first, "user_cpu_ns");
  EXPECT_EQ(list[0].second, std::nullopt);
  EXPECT_EQ(list[1].first, "system_cpu_ns");
  EXPECT_EQ(list[1].second, 5);
}

TEST(CountersTest, StolenAndIdleTimeIsNotBusy) {
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
