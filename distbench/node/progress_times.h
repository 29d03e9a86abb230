// When a node reports its progress.

#ifndef DISTBENCH_NODE_PROGRESS_TIMES_H_
#define DISTBENCH_NODE_PROGRESS_TIMES_H_

#include <algorithm>
#include <cstdint>

#include "absl/time/time.h"

namespace distbench::node {

// Not thread-safe.
class ProgressTimes {
 public:
  static constexpr absl::Duration kShortest = absl::Seconds(1);
  static constexpr absl::Duration kLongest = absl::Minutes(1);

  // Reports are due at steady intervals from now on: limited to kShortest and
  // kLongest, and kShortest if `interval` is not positive. The first comes
  // after `phase` (from 0 to 1) of what the interval is longer than kShortest:
  // nodes that report rarely because there are many do not report together.
  void Start(absl::Duration interval, double phase, int64_t now_ns) {
    interval = std::clamp(interval, kShortest, kLongest);
    interval_ns_ = absl::ToInt64Nanoseconds(interval);
    next_ns_ =
        now_ns + absl::ToInt64Nanoseconds((interval - kShortest) * phase);
  }

  // Whether a report is due, which it is then not for almost an interval: a
  // report that is early by `tolerance` is better than one that is late.
  bool IsDue(int64_t now_ns, absl::Duration tolerance) {
    if (now_ns < next_ns_) return false;
    next_ns_ = now_ns + interval_ns_ - absl::ToInt64Nanoseconds(tolerance);
    return true;
  }

 private:
  int64_t interval_ns_ = absl::ToInt64Nanoseconds(kShortest);
  int64_t next_ns_ = 0;  // monotonic
};

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_PROGRESS_TIMES_H_
