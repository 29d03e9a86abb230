// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_LAUNCHING_JOB_PATIENCE_H_
#define DISTBENCH_PRODUCTS_LAUNCHING_JOB_PATIENCE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "absl/time/time.h"
#include "distbench/base/clock.h"

namespace distbench::launching {

// Attempts that are repeated until a deadline. The pauses between them are
// 20 ms at first, then grow by half each time, up to a second. Not thread-safe.
class Patience {
 public:
  static constexpr absl::Duration kFirst = absl::Milliseconds(20);
  static constexpr absl::Duration kLongest = absl::Seconds(1);

  // Waits for a time. Returns false if somebody ended the wait: the process is
  // to stop.
  using Pause = std::function<bool(absl::Duration)>;

  // The clock must outlive this.
  Patience(absl::Duration limit, const base::Clock& clock, Pause pause)
      : clock_(clock),
        begin_ns_(clock.MonotonicNs()),
        limit_(limit),
        pause_(std::move(pause)) {}

  // The time until the deadline; not negative.
  absl::Duration left() const {
    const absl::Duration passed =
        absl::Nanoseconds(clock_.MonotonicNs() - begin_ns_);
    return std::max(limit_ - passed, absl::ZeroDuration());
  }

  // Whether a pause was ended early.
  bool was_ended() const { return was_ended_; }

  // Pauses before the next attempt, and returns whether there is to be one. The
  // last attempt is at the deadline.
  bool WaitForNext() {
    const absl::Duration rest = left();
    if (was_ended_ || rest <= absl::ZeroDuration()) return false;
    was_ended_ = !pause_(std::min(delay_, rest));
    delay_ = std::min(delay_ * 1.5, kLongest);
    return !was_ended_;
  }

 private:
  const base::Clock& clock_;
  const int64_t begin_ns_;
  const absl::Duration limit_;
  const Pause pause_;
  absl::Duration delay_ = kFirst;
  bool was_ended_ = false;
};

}  // namespace distbench::launching

#endif  // DISTBENCH_PRODUCTS_LAUNCHING_JOB_PATIENCE_H_
