#ifndef DISTBENCH_NODE_CREDIT_WINDOW_H_
#define DISTBENCH_NODE_CREDIT_WINDOW_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace distbench::node {

// Limits how much may be in flight to a receiver that acknowledges what it
// takes. Thread-safe.
class CreditWindow {
 public:
  // Sets how much may be in flight.
  void Open(int64_t size) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    size_ = size;
  }

  // Waits until there is room for `amount`, or until nothing is in flight if
  // `amount` exceeds the window. Returns false if the window was closed.
  bool Acquire(int64_t amount) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    const auto may_go = [this, amount]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return is_closed_ || used_ == 0 || used_ + amount <= size_;
    };
    mutex_.Await(absl::Condition(&may_go));
    used_ += amount;
    return !is_closed_;
  }

  // The receiver has taken `amount`.
  void Release(int64_t amount) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    used_ -= amount;
  }

  // Lets nothing more pass, and ends all waits.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    is_closed_ = true;
  }

 private:
  absl::Mutex mutex_;
  int64_t size_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t used_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace distbench::node

#endif  // DISTBENCH_NODE_CREDIT_WINDOW_H_
