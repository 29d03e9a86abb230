// The memory that results may take.

#ifndef DISTBENCH_SEQUENCER_RESULT_MEMORY_H_
#define DISTBENCH_SEQUENCER_RESULT_MEMORY_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace distbench {

// A result in memory that may be dropped to make room for others.
class DroppableResult {
 public:
  virtual ~DroppableResult() = default;

  // Forgets the result, and releases its memory.
  virtual void DropResult() = 0;
};

// A limit for all results together; the oldest go first. Thread-safe.
class ResultMemory {
 public:
  explicit ResultMemory(int64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // False, with nothing reserved, if there is no room, although all that may be
  // dropped was. The caller holds no lock that DropResult() takes.
  bool Reserve(int64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_) {
    while (true) {
      std::shared_ptr<DroppableResult> oldest;
      {
        absl::MutexLock lock(&mutex_);
        if (used_bytes_ + bytes <= limit_bytes_) {
          used_bytes_ += bytes;
          return true;
        }
        if (droppable_.empty()) return false;
        oldest = droppable_.front().lock();
        droppable_.pop_front();
      }
      if (oldest != nullptr) oldest->DropResult();
    }
  }

  // For what can not be left out, whatever the limit.
  void ReserveAnyway(int64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    used_bytes_ += bytes;
  }

  void Release(int64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    used_bytes_ -= bytes;
  }

  // From now on the result may be dropped, after those that came before.
  void AddDroppable(std::weak_ptr<DroppableResult> result)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    while (!droppable_.empty() && droppable_.front().expired()) {
      droppable_.pop_front();
    }
    droppable_.push_back(std::move(result));
  }

  int64_t used_bytes() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return used_bytes_;
  }
  int64_t limit_bytes() const { return limit_bytes_; }

 private:
  const int64_t limit_bytes_;
  mutable absl::Mutex mutex_;
  int64_t used_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<std::weak_ptr<DroppableResult>> droppable_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_RESULT_MEMORY_H_
