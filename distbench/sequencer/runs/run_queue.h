// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Executes runs one at a time, in the order of their submission, except for
// those that may go first.

#ifndef DISTBENCH_SEQUENCER_RUNS_RUN_QUEUE_H_
#define DISTBENCH_SEQUENCER_RUNS_RUN_QUEUE_H_

#include <deque>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace distbench::sequencer {

// A run in the queue. Exactly one of Run() and Drop() is called.
class QueuedRun {
 public:
  virtual ~QueuedRun() = default;

  // `ahead` others come first, including the one that is running; 0 means that
  // it is about to run. Must neither block nor call the queue.
  virtual void OnQueuePosition(int ahead) = 0;

  // Executes the run, on the queue's thread.
  virtual void Run() = 0;

  // Makes Run(), current or future, return soon. May be called on any thread.
  virtual void Cancel(const absl::Status& reason) = 0;

  // Called instead of Run().
  virtual void Drop(const absl::Status& reason) = 0;
};

// Thread-safe.
class RunQueue {
 public:
  RunQueue();

  // Closes the queue, and waits until the current run has ended.
  ~RunQueue();

  // With `preempt`, the run goes before all waiting ones that were submitted
  // without it. The current run is not interrupted.
  void Submit(std::shared_ptr<QueuedRun> run, bool preempt = false)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Drops the run if it is waiting, cancels it if it is running, and does
  // nothing otherwise.
  void Cancel(const QueuedRun& run, const absl::Status& reason)
      ABSL_LOCKS_EXCLUDED(mutex_);

  int waiting_count() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Cancels the current run, and drops all waiting and later ones.
  void Close(const absl::Status& reason) ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until nothing runs. Returns false on timeout.
  bool AwaitIdle(absl::Duration timeout) const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct WaitingRun {
    std::shared_ptr<QueuedRun> run;
    bool preempt;
  };

  void Loop() ABSL_LOCKS_EXCLUDED(mutex_);
  // Tells the waiting runs their positions, beginning with the run at `first`.
  void AnnouncePositions(int first) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !waiting_.empty() || closed_;
  }

  bool IsIdle() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return running_ == nullptr;
  }

  mutable absl::Mutex mutex_;

  // Runs with `preempt` come first.
  std::deque<WaitingRun> waiting_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<QueuedRun> running_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status close_reason_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_RUNS_RUN_QUEUE_H_
