#include "distbench/base/timer_slack.h"

#include <sys/prctl.h>

#include <thread>

#include "gtest/gtest.h"

namespace distbench {
namespace {

int SlackNs() { return prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0); }

TEST(TimerSlackTest, IsOfTheCallingThreadOnly) {
  const int before_ns = SlackNs();
  int after_ns = 0;
  std::thread([&] {
    DisableTimerSlack();
    after_ns = SlackNs();
  }).join();
  EXPECT_EQ(after_ns, 1);
  EXPECT_EQ(SlackNs(), before_ns);
}

}  // namespace
}  // namespace distbench
