#ifndef DISTBENCH_BASE_WAKE_AHEAD_H_
#define DISTBENCH_BASE_WAKE_AHEAD_H_

#include <algorithm>
#include <cstdint>

namespace distbench {

// How long before a point in time a thread should have itself woken, so that it
// is awake when the time comes. Being woken takes some microseconds here and
// fifty there; what is too much is spent polling. So it follows how late the
// thread has been woken lately: one wake-up in a hundred is later than that. A
// smaller quantile would poll less and be less punctual.
//
// A quantile is followed by steps: up when a value lies above it, down when
// not, in the proportion of the values that should (Robbins and Monro, 1951).
class WakeAhead {
 public:
  static constexpr int64_t kMinNs = 2'000;
  static constexpr int64_t kMaxNs = 50'000;

  int64_t ns() const { return ahead_ns_; }

  // The thread was woken for alarm_ns, and ran at woken_ns.
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

}  // namespace distbench

#endif  // DISTBENCH_BASE_WAKE_AHEAD_H_
