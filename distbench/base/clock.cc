#include "distbench/base/clock.h"

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

}  // namespace distbench::base
