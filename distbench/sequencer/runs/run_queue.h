// Whose turn it is: runs one at a time, in the order in which they came, but
// for those that may go first.

#ifndef DISTBENCH_SEQUENCER_RUNS_RUN_QUEUE_H_
#define DISTBENCH_SEQUENCER_RUNS_RUN_QUEUE_H_

#include <deque>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace distbench {

// Something that waits for its turn and then runs. Exactly one of Run() and
// Drop() is called.
class QueuedRun {
 public:
  virtual ~QueuedRun() = default;

  // `ahead` others come first, the one that runs included; 0 says that its turn
  // comes at once. Must not block, nor call the queue.
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

  // With `preempt`, before all that wait and were submitted without it. What
  // runs is not disturbed.
  void Submit(std::shared_ptr<QueuedRun> run, bool preempt = false)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Drops the run if it waits, cancels it if it runs, and does nothing
  // otherwise.
  void Cancel(const QueuedRun& run, const absl::Status& reason)
      ABSL_LOCKS_EXCLUDED(mutex_);

  int waiting_count() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Cancels and drops everything, now and later.
  void Close(const absl::Status& reason) ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until nothing runs. False: something still does.
  bool AwaitIdle(absl::Duration timeout) const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct WaitingRun {
    std::shared_ptr<QueuedRun> run;
    bool preempt;
  };

  void Loop() ABSL_LOCKS_EXCLUDED(mutex_);
  // To those that wait, from the `first` of them on.
  void AnnouncePositions(int first) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !waiting_.empty() || closed_;
  }

  bool IsIdle() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return running_ == nullptr;
  }

  mutable absl::Mutex mutex_;

  // Those with `preempt` come first.
  std::deque<WaitingRun> waiting_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<QueuedRun> running_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status close_reason_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_RUNS_RUN_QUEUE_H_
