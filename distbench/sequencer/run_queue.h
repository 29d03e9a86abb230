// Whose turn it is: runs one at a time, in the order in which they came.

#ifndef DISTBENCH_SEQUENCER_RUN_QUEUE_H_
#define DISTBENCH_SEQUENCER_RUN_QUEUE_H_

#include <deque>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace distbench {

// Something that waits for its turn and then runs. Exactly one of Run() and
// Drop() is called.
class QueuedRun {
 public:
  virtual ~QueuedRun() = default;

  // `ahead` others come first, the one that runs included. Must not block, nor
  // call the queue.
  virtual void OnQueuePosition(int ahead) = 0;

  // Its turn: on the queue's thread, until it is done.
  virtual void Run() = 0;

  // Makes Run(), current or future, return soon. Any thread.
  virtual void Cancel(const absl::Status& reason) = 0;

  // It will not run.
  virtual void Drop(const absl::Status& reason) = 0;
};

// Thread-safe.
class RunQueue {
 public:
  RunQueue();

  // Closes, and waits until what was running has ended.
  ~RunQueue();

  void Submit(std::shared_ptr<QueuedRun> run) ABSL_LOCKS_EXCLUDED(mutex_);

  // Drops the run if it waits, cancels it if it runs, and does nothing
  // otherwise.
  void Cancel(const QueuedRun& run, const absl::Status& reason)
      ABSL_LOCKS_EXCLUDED(mutex_);

  int waiting_count() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Cancels and drops everything, now and later.
  void Close(const absl::Status& reason) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Loop() ABSL_LOCKS_EXCLUDED(mutex_);
  void AnnouncePositions() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !waiting_.empty() || closed_;
  }

  mutable absl::Mutex mutex_;
  std::deque<std::shared_ptr<QueuedRun>> waiting_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<QueuedRun> running_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status close_reason_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_RUN_QUEUE_H_
