#ifndef DISTBENCH_NODE_BACKOFF_H_
#define DISTBENCH_NODE_BACKOFF_H_

#include <algorithm>
#include <cstdint>

#include "absl/random/random.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"

namespace distbench {

// How long to wait before the next try: from 100 ms, twice as long each time,
// to 2 s; and up to a fifth less, so that a thousand nodes do not come at once.
// Only a success that lasts begins anew: one that is over at once, again and
// again, must not be tried ten times a second. Not thread-safe.
class Backoff {
 public:
  static constexpr absl::Duration kFirst = absl::Milliseconds(100);
  static constexpr absl::Duration kLongest = absl::Seconds(2);

  // The clock must outlive this.
  explicit Backoff(const Clock& clock) : clock_(clock) {}

  // A try begins.
  void Begin() { began_ns_ = clock_.MonotonicNs(); }

  // It is over.
  absl::Duration Next(bool was_success) {
    const int64_t lasted_ns = clock_.MonotonicNs() - began_ns_;
    if (was_success && absl::Nanoseconds(lasted_ns) >= kLongest) {
      delay_ = kFirst;
    }
    const absl::Duration delay = delay_;
    delay_ = std::min(2 * delay_, kLongest);
    return delay * absl::Uniform(random_, 0.8, 1.0);
  }

 private:
  const Clock& clock_;
  int64_t began_ns_ = 0;
  absl::Duration delay_ = kFirst;
  absl::BitGen random_;
};

}  // namespace distbench

#endif  // DISTBENCH_NODE_BACKOFF_H_
