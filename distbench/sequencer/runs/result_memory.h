// Limits the memory that results take.

#ifndef DISTBENCH_SEQUENCER_RUNS_RESULT_MEMORY_H_
#define DISTBENCH_SEQUENCER_RUNS_RESULT_MEMORY_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace distbench::sequencer {

// A result in memory that may be dropped to make room for others.
class DroppableResult {
 public:
  virtual ~DroppableResult() = default;

  // Drops the result and releases its memory. Records that a reader has not
  // taken yet stay until it takes them; with `cut_off` they are dropped now,
  // and the reader is told so. Returns whether nothing is left.
  virtual bool DropResult(bool cut_off) = 0;
};

// Limits the memory of all results together. The oldest result of the client
// that uses most memory is dropped first, so that no client displaces the
// results of others that use less. Thread-safe.
class ResultMemory {
 public:
  explicit ResultMemory(int64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  enum class Room {
    kReserved,
    kMayCome,  // when readers have taken their records
    kNone,     // although everything droppable was dropped
  };

  // Reserves all of the bytes, or none. The caller must not hold a lock that
  // DropResult() takes.
  Room Reserve(int64_t bytes, bool cut_off_readers = false)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // For data that cannot be left out; ignores the limit.
  void ReserveAnyway(int64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);

  void Release(int64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);

  // Counts releases of memory and calls of NoteChange(), which wakes the
  // threads in AwaitChange() for other reasons.
  int64_t changes() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return changes_;
  }
  void NoteChange() ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until there are more than `seen` changes. Returns false on timeout.
  bool AwaitChange(int64_t seen, absl::Duration timeout) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // From now on the client's result, which takes this many bytes, may be
  // dropped.
  void AddDroppable(std::weak_ptr<DroppableResult> result, std::string client,
                    int64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);

  int64_t used_bytes() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return used_bytes_;
  }
  int64_t limit_bytes() const { return limit_bytes_; }

 private:
  struct Droppable {
    std::weak_ptr<DroppableResult> result;
    std::string client;
    int64_t bytes;
  };

  std::optional<Droppable> TakeNextToDrop()
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ForgetExpired() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int64_t limit_bytes_;
  mutable absl::Mutex mutex_;
  int64_t used_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t changes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<Droppable> droppable_ ABSL_GUARDED_BY(mutex_);  // oldest first
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_RUNS_RESULT_MEMORY_H_
