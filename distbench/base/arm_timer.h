#ifndef DISTBENCH_BASE_ARM_TIMER_H_
#define DISTBENCH_BASE_ARM_TIMER_H_

#include <sys/timerfd.h>

#include <algorithm>
#include <cstdint>

#include "distbench/base/time_units.h"
#include "glog/logging.h"

namespace distbench {

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

}  // namespace distbench

#endif  // DISTBENCH_BASE_ARM_TIMER_H_
