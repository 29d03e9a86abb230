// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/timers.h"

#include <sys/prctl.h>

#include "glog/logging.h"

namespace distbench::base {

void DisableTimerSlack() {
  // 0 would mean the default.
  constexpr unsigned long kLeastSlackNs = 1;
  PLOG_IF(WARNING, prctl(PR_SET_TIMERSLACK, kLeastSlackNs, 0, 0, 0) != 0)
      << "waits may take 50 us longer than they should";
}

}  // namespace distbench::base
