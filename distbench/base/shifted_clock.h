#ifndef DISTBENCH_BASE_SHIFTED_CLOCK_H_
#define DISTBENCH_BASE_SHIFTED_CLOCK_H_

#include <cstdint>

#include "distbench/base/clock.h"
#include "distbench/base/saturating_add.h"

namespace distbench::base {

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

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_SHIFTED_CLOCK_H_
