#include "distbench/products/bench/kinds/cancellation.h"

namespace distbench::bench {

void Cancellation::Cancel() {
  absl::MutexLock lock(&mutex_);
  if (is_cancelled_) return;
  is_cancelled_ = true;
  if (handler_) handler_();
}

bool Cancellation::is_cancelled() const {
  absl::MutexLock lock(&mutex_);
  return is_cancelled_;
}

void Cancellation::SetHandler(std::function<void()> handler) {
  absl::MutexLock lock(&mutex_);
  handler_ = std::move(handler);
  if (is_cancelled_ && handler_) handler_();
}

}  // namespace distbench::bench
