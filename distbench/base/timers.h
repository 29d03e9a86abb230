// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Waiting until a point in time, and not longer.

#ifndef DISTBENCH_BASE_TIMERS_H_
#define DISTBENCH_BASE_TIMERS_H_

#include <sys/timerfd.h>

#include <algorithm>
#include <cstdint>

#include "distbench/base/time_units.h"
#include "glog/logging.h"

namespace distbench::base {

// Arms a timerfd_create(2) timer of CLOCK_MONOTONIC to expire at due_ns, or at
// once if that time has passed.
inline void ArmTimer(int timer_fd, int64_t due_ns) {
  // Zero would disarm the timer.
  const int64_t time_ns = std::max<int64_t>(due_ns, 1);
  itimerspec time = {};
  time.it_value.tv_sec = time_ns / kNsPerSecond;
  time.it_value.tv_nsec = time_ns % kNsPerSecond;
  PCHECK(timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &time, nullptr) == 0);
}

// Makes the calling thread's waits end when they are due. By default Linux lets
// them end up to 50 us later, so that it can wake several threads at once.
void DisableTimerSlack();

// Tracks how long before a point in time a thread should be woken, so that it
// runs when the time comes. A wake-up takes a few microseconds on one host and
// fifty on another; time that is left over is spent polling. The lead therefore
// follows the recent delays of the thread's wake-ups: it is their 99th
// percentile. A lower quantile would poll less and be less punctual.
//
// The quantile is tracked by steps: up when a value lies above it, down
// otherwise, in a ratio that balances at the quantile (Robbins and Monro,
// 1951).
class WakeAhead {
 public:
  static constexpr int64_t kMinNs = 2'000;
  static constexpr int64_t kMaxNs = 50'000;

  int64_t ns() const { return ahead_ns_; }

  // The thread was due to wake at alarm_ns, and ran at woken_ns.
  void OnWoken(int64_t alarm_ns, int64_t woken_ns) {
    const bool too_late = woken_ns - alarm_ns > ahead_ns_;
    ahead_ns_ = std::clamp(ahead_ns_ + (too_late ? kStepUpNs : -kStepDownNs),
                           kMinNs, kMaxNs);
  }

 private:
  static constexpr int64_t kStepUpNs = 1'980;
  static constexpr int64_t kStepDownNs = 20;

  int64_t ahead_ns_ = kMaxNs;
};

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_TIMERS_H_
