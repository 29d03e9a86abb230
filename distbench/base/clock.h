// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Time, injectable: everything that measures or waits takes a Clock, so that
// tests decide what time it is.

#ifndef DISTBENCH_BASE_CLOCK_H_
#define DISTBENCH_BASE_CLOCK_H_

#include <atomic>
#include <cstdint>
#include <ctime>

#include "distbench/base/saturating_add.h"
#include "distbench/base/time_units.h"

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

// A clock that stands still until it is told to advance. Thread-safe.
class ManualClock final : public Clock {
 public:
  // Unix time runs at a fixed distance from monotonic time.
  explicit ManualClock(int64_t monotonic_ns = 0,
                       int64_t unix_offset_ns = 1'600'000'000'000'000'000)
      : monotonic_ns_(monotonic_ns), unix_offset_ns_(unix_offset_ns) {}

  int64_t MonotonicNs() const override { return monotonic_ns_; }
  int64_t UnixNs() const override { return monotonic_ns_ + unix_offset_ns_; }

  // Requires duration_ns >= 0.
  void Advance(int64_t duration_ns) { monotonic_ns_ += duration_ns; }
  void SetMonotonicNs(int64_t now_ns) { monotonic_ns_ = now_ns; }

 private:
  std::atomic<int64_t> monotonic_ns_;
  const int64_t unix_offset_ns_;
};

// The common clock of a test's hosts: a clock corrected by its known offset.
class ShiftedClock final : public Clock {
 public:
  // `clock` must outlive this; its Unix time is offset_ns ahead.
  ShiftedClock(const Clock& clock, int64_t offset_ns)
      : clock_(clock), offset_ns_(offset_ns) {}

  int64_t MonotonicNs() const override { return clock_.MonotonicNs(); }
  int64_t UnixNs() const override {
    return SaturatingSubtract(clock_.UnixNs(), offset_ns_);
  }

 private:
  const Clock& clock_;
  const int64_t offset_ns_;
};

// The CPU time that this process and its threads have used.

// CPU time of this process, user plus system, in seconds.
double ProcessCpuSeconds();

// CPU time of the calling thread, in nanoseconds.
inline int64_t ThreadCpuNs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return kNsPerSecond * now.tv_sec + now.tv_nsec;
}

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_CLOCK_H_
