// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/timers.h"

#include <sys/prctl.h>

#include <cstdint>
#include <random>
#include <thread>

#include "gtest/gtest.h"

namespace distbench::base {
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

constexpr int64_t kAlarm = 1'000'000'000;
constexpr int kWakeUps = 20'000;

TEST(WakeAheadTest, BeginsWithTheMost) {
  EXPECT_EQ(WakeAhead().ns(), WakeAhead::kMaxNs);
}

TEST(WakeAheadTest, OneWakeUpInAHundredIsLater) {
  WakeAhead ahead;
  std::mt19937_64 random(1);
  std::uniform_int_distribution<int64_t> lateness_ns(5'000, 35'000);
  int64_t late = 0;
  for (int i = 0; i < 2 * kWakeUps; ++i) {
    const int64_t woken_ns = kAlarm + lateness_ns(random);
    if (i >= kWakeUps && woken_ns > kAlarm + ahead.ns()) ++late;
    ahead.OnWoken(kAlarm, woken_ns);
  }
  EXPECT_NEAR(static_cast<double>(late) / kWakeUps, 0.01, 0.005);
}

TEST(WakeAheadTest, FollowsAMachineThatBecomesSlower) {
  WakeAhead ahead;
  for (int i = 0; i < kWakeUps; ++i) ahead.OnWoken(kAlarm, kAlarm + 8'000);
  EXPECT_NEAR(ahead.ns(), 8'000, 2'000);
  for (int i = 0; i < 100; ++i) ahead.OnWoken(kAlarm, kAlarm + 40'000);
  EXPECT_GT(ahead.ns(), 38'000);
}

TEST(WakeAheadTest, StaysWithinItsBounds) {
  WakeAhead ahead;
  for (int i = 0; i < kWakeUps; ++i) ahead.OnWoken(kAlarm, kAlarm);
  EXPECT_EQ(ahead.ns(), WakeAhead::kMinNs);
  for (int i = 0; i < kWakeUps; ++i) ahead.OnWoken(kAlarm, 2 * kAlarm);
  EXPECT_EQ(ahead.ns(), WakeAhead::kMaxNs);
}

}  // namespace
}  // namespace distbench::base
