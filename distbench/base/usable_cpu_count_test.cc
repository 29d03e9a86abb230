#include "distbench/base/usable_cpu_count.h"

#include <sched.h>

#include <thread>

#include "gtest/gtest.h"

namespace distbench {
namespace {

TEST(UsableCpuCountTest, IsWhatTheThreadIsBoundTo) {
  EXPECT_GE(UsableCpuCount(), 1);
  // In a thread, so that nothing else in the process is bound.
  std::thread([] {
    const int here = sched_getcpu();
    ASSERT_GE(here, 0);
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(here, &cpus);
    ASSERT_EQ(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
    EXPECT_EQ(UsableCpuCount(), 1);
  }).join();
}

}  // namespace
}  // namespace distbench
