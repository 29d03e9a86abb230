// Time, injectable: everything that measures or waits takes a Clock, so that
// tests decide what time it is.

#ifndef DISTBENCH_BASE_CLOCK_H_
#define DISTBENCH_BASE_CLOCK_H_

#include <cstdint>

namespace distbench::base {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  // For durations and due times: never steps. In nanoseconds; zero is
  // arbitrary, but the same for all processes of a host.
  virtual int64_t MonotonicNs() const = 0;

  // For time stamps only: nanoseconds since the Unix epoch. May step.
  virtual int64_t UnixNs() const = 0;
};

// CLOCK_MONOTONIC and CLOCK_REALTIME. Never destroyed.
const Clock& RealClock();

// The monotonic time of RealClock(), for code that talks to the real world.
inline int64_t NowNs() { return RealClock().MonotonicNs(); }

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_CLOCK_H_
