// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_NODE_BACKOFF_H_
#define DISTBENCH_NODE_BACKOFF_H_

#include <algorithm>
#include <cstdint>

#include "absl/random/random.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"

namespace distbench::node {

// Computes how long to wait before the next attempt: 100 ms at first, then
// twice as long each time, up to 2 s. A random part of up to a fifth is
// subtracted, so that a thousand nodes do not come at once. Only a success that
// lasts resets the delay: one that ends at once, again and again, must not be
// retried ten times a second. Not thread-safe.
class Backoff {
 public:
  static constexpr absl::Duration kFirst = absl::Milliseconds(100);
  static constexpr absl::Duration kLongest = absl::Seconds(2);

  // The clock must outlive this.
  explicit Backoff(const base::Clock& clock) : clock_(clock) {}

  // An attempt begins.
  void Begin() { began_ns_ = clock_.MonotonicNs(); }

  // The attempt has ended. Returns the delay before the next one.
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
  const base::Clock& clock_;
  int64_t began_ns_ = 0;
  absl::Duration delay_ = kFirst;
  absl::BitGen random_;
};

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_BACKOFF_H_
