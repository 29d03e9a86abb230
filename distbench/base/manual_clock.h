#ifndef DISTBENCH_BASE_MANUAL_CLOCK_H_
#define DISTBENCH_BASE_MANUAL_CLOCK_H_

#include <atomic>
#include <cstdint>

#include "distbench/base/clock.h"

namespace distbench::base {

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

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_MANUAL_CLOCK_H_
