// The threads behind the server types "polling" and "handoff": what a server
// has that gives each request a thread to handle it.

#ifndef DISTBENCH_PROTOCOL_GRPC_HANDLER_POOL_H_
#define DISTBENCH_PROTOCOL_GRPC_HANDLER_POOL_H_

#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace distbench {

// Runs tasks on threads of its own, as many at a time as there are threads.
// Thread-safe.
//
// Between Run() and Finish() a task occupies a thread without keeping it from
// running others: threads are alike, so what counts is how many are occupied.
// That way few of them have to be woken: one at a time, the one that has slept
// for the shortest time, which wakes the next one if there is more to do. With
// kThreadPerTask the task's own thread stays until it is finished.
class HandlerPool {
  struct Thread;

 public:
  enum class Kind {
    kElastic,        // starts another thread whenever none is free
    kSimple,         // as many threads as it has; tasks wait their turn
    kThreadPerTask,  // a new thread for each task, which ends with it
  };

  // Something that occupies a thread from Run() to Finish(). Belongs to who
  // submits it.
  class Task {
   public:
    // On a thread of the pool. The pool touches the task in Finish() only from
    // here on. Should be short: the next task may have to wait for its end.
    virtual void Run() = 0;

   protected:
    ~Task() = default;

   private:
    friend class HandlerPool;
    Task* next_ = nullptr;
    Thread* thread_ = nullptr;  // kThreadPerTask: that it is run by
  };

  // No pool has more threads than this: elastic ones let tasks wait then.
  static constexpr int kMaxThreads = 10'000;

  // `size`: the threads that there are from the start, at least 1; means
  // nothing to kThreadPerTask. Threads of elastic pools stay once they were
  // started. The error says that the system has no more threads.
  static absl::StatusOr<std::unique_ptr<HandlerPool>> Make(Kind kind, int size);

  // Waits until all tasks are run, which takes that they are finished.
  ~HandlerPool();

  HandlerPool(const HandlerPool&) = delete;
  HandlerPool& operator=(const HandlerPool&) = delete;

  // Runs the task, first come, first served. False, and the task is not run, if
  // there can be no thread for it: with kThreadPerTask only.
  [[nodiscard]] bool Submit(Task& task);

  // The thread that the task occupies is free. Once for each task that is run,
  // not before its Run() has been called; any thread.
  void Finish(Task& task);

  // The most threads that there have been at a time.
  int64_t most_threads() const;

 private:
  explicit HandlerPool(Kind kind) : kind_(kind) {}

  // A thread that runs `first` if there is one, or what is submitted.
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
  Task* first_ ABSL_GUARDED_BY(mutex_) = nullptr;  // the queue
  Task* last_ ABSL_GUARDED_BY(mutex_) = nullptr;
  Thread* idle_ ABSL_GUARDED_BY(mutex_) = nullptr;  // a stack
  bool waking_ ABSL_GUARDED_BY(mutex_) = false;     // one is on its way
  int64_t waiting_tasks_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t occupied_threads_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t threads_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t most_threads_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_HANDLER_POOL_H_
