#ifndef DISTBENCH_PRODUCTS_EXTERNAL_CALLS_RATE_LIMITER_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_CALLS_RATE_LIMITER_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace distbench::external {

// Lets no more than a number of events per second pass. In any period of t
// seconds, at most rate * (t + 10 ms) + 1 events pass. Thread-safe.
class RateLimiter {
 public:
  // Requires per_second > 0.
  explicit RateLimiter(double per_second);

  // Lets an event pass and returns 0, or returns the time from which on the
  // next one may pass. Times are monotonic, in nanoseconds.
  int64_t TryPass(int64_t now_ns);

  // Takes back the last event that passed.
  void TakeBack();

 private:
  const int64_t interval_ns_;
  absl::Mutex mutex_;
  // When the next event would be due if all passed evenly.
  int64_t next_due_ns_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_CALLS_RATE_LIMITER_H_
