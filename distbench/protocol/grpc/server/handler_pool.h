// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The threads behind the server types "polling" and "handoff", which model a
// server that gives each request a thread.

#ifndef DISTBENCH_PROTOCOL_GRPC_SERVER_HANDLER_POOL_H_
#define DISTBENCH_PROTOCOL_GRPC_SERVER_HANDLER_POOL_H_

#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace distbench::protocol {

// Runs tasks on its own threads, at most one task per thread at a time.
// Thread-safe.
//
// Between Run() and Finish() a task occupies a thread, but the thread may run
// other tasks meanwhile: threads are alike, so only the number of occupied ones
// matters. That keeps wake-ups rare: the pool wakes one thread at a time, the
// one that has slept for the shortest time, and that thread wakes the next one
// if there is more to do. With kThreadPerTask the task's own thread stays until
// the task is finished.
class HandlerPool {
  struct Thread;

 public:
  // The thread that a task occupies.
  class Occupied {
    friend class HandlerPool;
    Thread* thread = nullptr;  // with kThreadPerTask
  };

  enum class Kind {
    kElastic,        // starts another thread whenever none is free
    kSimple,         // has a fixed number of threads; tasks wait for them
    kThreadPerTask,  // starts a thread for each task, which ends with it
  };

  // A task occupies a thread from Run() to Finish(). It belongs to the caller
  // of Submit(), for whom it may be another task before Finish().
  class Task {
   public:
    // Runs on a thread of the pool, which does not touch the task from now on.
    // Should be short, because the next task may have to wait for its end.
    virtual void Run() = 0;

    // For Finish(); valid from Run() on.
    Occupied occupied() const { return occupied_; }

   protected:
    ~Task() = default;

   private:
    friend class HandlerPool;
    Task* next_ = nullptr;
    Occupied occupied_;
  };

  // The limit of any pool; beyond it the tasks of elastic pools wait.
  static constexpr int kMaxThreads = 10'000;

  // `size` is the number of initial threads, at least 1; kThreadPerTask ignores
  // it. Threads of elastic pools stay once they have started. The error says
  // that the system has no more threads.
  static absl::StatusOr<std::unique_ptr<HandlerPool>> Make(Kind kind, int size);

  // Waits until all tasks have run and are finished.
  ~HandlerPool();

  HandlerPool(const HandlerPool&) = delete;
  HandlerPool& operator=(const HandlerPool&) = delete;

  // Runs the task, first come, first served. With kThreadPerTask, returns false
  // and does not run it if no thread can be started.
  [[nodiscard]] bool Submit(Task& task);

  // Frees the thread that a task occupies. Call it once for each task, after
  // its Run() has been called. Any thread may call it.
  void Finish(Occupied occupied);

  // Returns the peak number of threads.
  int64_t most_threads() const;

 private:
  friend class HandlerPoolHolder;  // in a test, holds up the pool

  explicit HandlerPool(Kind kind) : kind_(kind) {}

  // Starts a thread that runs `first` if given, else submitted tasks.
  bool StartThread(Task* first) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static void* ThreadMain(void* thread);
  void RunOne(Thread& self, Task& task);
  void RunSubmitted(Thread& self);
  Task* WaitForTask(Thread& self) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool CanStartTask() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WakeOneIfNeeded() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WakeIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CountThreadOut();

  const Kind kind_;
  mutable absl::Mutex mutex_;
  absl::CondVar thread_left_;
  Task* first_ ABSL_GUARDED_BY(mutex_) = nullptr;  // of the queue
  Task* last_ ABSL_GUARDED_BY(mutex_) = nullptr;
  Thread* idle_ ABSL_GUARDED_BY(mutex_) = nullptr;  // a stack
  bool waking_ ABSL_GUARDED_BY(mutex_) = false;     // a wake-up is on its way
  int64_t waiting_tasks_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t occupied_threads_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t threads_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t most_threads_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_SERVER_HANDLER_POOL_H_
