// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/base/clock.h"

#include <sys/resource.h>

#include <ctime>

#include "distbench/base/time_units.h"

namespace distbench::base {
namespace {

int64_t ReadNs(clockid_t id) {
  timespec now;
  clock_gettime(id, &now);
  return kNsPerSecond * now.tv_sec + now.tv_nsec;
}

class SystemClock final : public Clock {
 public:
  int64_t MonotonicNs() const override { return ReadNs(CLOCK_MONOTONIC); }
  int64_t UnixNs() const override { return ReadNs(CLOCK_REALTIME); }
};

}  // namespace

const Clock& RealClock() {
  static const SystemClock* const clock = new SystemClock;
  return *clock;
}

double ProcessCpuSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * time.tv_usec;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace distbench::base
