// A request to end what is going on, whatever that is at the moment.

#ifndef DISTBENCH_PRODUCTS_BENCH_KINDS_CANCELLATION_H_
#define DISTBENCH_PRODUCTS_BENCH_KINDS_CANCELLATION_H_

#include <functional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace distbench::bench {

// Thread-safe.
class Cancellation {
 public:
  // Calls the current handler, if there is one. Only the first call counts.
  void Cancel() ABSL_LOCKS_EXCLUDED(mutex_);

  bool is_cancelled() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Sets what to do about the request while this object lives; at once if the
  // request has already come. The handler has ended, or will never run, when
  // the object is destroyed; it must not use the Cancellation. One at a time.
  class Scope {
   public:
    Scope(Cancellation& cancellation, std::function<void()> handler)
        : cancellation_(cancellation) {
      cancellation_.SetHandler(std::move(handler));
    }
    ~Scope() { cancellation_.SetHandler({}); }

    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Cancellation& cancellation_;
  };

 private:
  void SetHandler(std::function<void()> handler) ABSL_LOCKS_EXCLUDED(mutex_);

  mutable absl::Mutex mutex_;
  bool is_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> handler_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench::bench

#endif  // DISTBENCH_PRODUCTS_BENCH_KINDS_CANCELLATION_H_
