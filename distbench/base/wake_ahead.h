#ifndef DISTBENCH_BASE_WAKE_AHEAD_H_
#define DISTBENCH_BASE_WAKE_AHEAD_H_

#include <algorithm>
#include <cstdint>

namespace distbench {

// How long before a point in time a thread should have itself woken, so that it
// is awake when the time comes. Being woken takes some microseconds here and
// fifty there; what is too much is spent polling. So it follows the median of
// how late the thread has been woken lately, by steps: up when a wake-up was
// later, down when it was not (Robbins and Monro, 1951). A larger quantile
// would be more punctual, but at low rates polling is what an RPC costs most.
class WakeAhead {
 public:
  static constexpr int64_t kMinNs = 2'000;
  static constexpr int64_t kMaxNs = 50'000;

  int64_t ns() const { return ahead_ns_; }

  // The thread was woken for alarm_ns, and ran at woken_ns.
  void OnWoken(int64_t alarm_ns, int64_t woken_ns) {
    const bool too_late = woken_ns - alarm_ns > ahead_ns_;
    ahead_ns_ =
        std::clamp(ahead_ns_ + (too_late ? kStepNs : -kStepNs), kMinNs, kMaxNs);
  }

 private:
  static constexpr int64_t kStepNs = 500;

  int64_t ahead_ns_ = kMaxNs;
};

}  // namespace distbench

#endif  // DISTBENCH_BASE_WAKE_AHEAD_H_
