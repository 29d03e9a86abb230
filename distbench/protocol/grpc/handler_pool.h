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

// Runs tasks on threads of its own. Thread-safe.
class HandlerPool {
 public:
  enum class Kind {
    kElastic,        // starts another thread whenever none is free
    kSimple,         // as many threads as it has; tasks wait their turn
    kThreadPerTask,  // a new thread for each task, which ends with it
  };

  // Something to run. Belongs to who submits it.
  class Task {
   public:
    // On a thread of the pool, which may be blocked. The pool does not touch
    // the task any more.
    virtual void Run() = 0;

   protected:
    ~Task() = default;

   private:
    friend class HandlerPool;
    Task* next_ = nullptr;
  };

  // No pool has more threads than this: elastic ones let tasks wait then.
  static constexpr int kMaxThreads = 10'000;

  // `size`: the threads that there are from the start, at least 1; means
  // nothing to kThreadPerTask. Threads of elastic pools stay once they were
  // started. The error says that the system has no more threads.
  static absl::StatusOr<std::unique_ptr<HandlerPool>> Make(Kind kind, int size);

  // Waits for all tasks.
  ~HandlerPool();

  HandlerPool(const HandlerPool&) = delete;
  HandlerPool& operator=(const HandlerPool&) = delete;

  // Runs the task, first come, first served. False, and the task is not run, if
  // there can be no thread for it: with kThreadPerTask only.
  [[nodiscard]] bool Submit(Task& task);

  // The most threads that there have been at a time.
  int64_t most_threads() const;

 private:
  struct NewThread;

  explicit HandlerPool(Kind kind) : kind_(kind) {}

  // A thread that runs `first` if there is one, and what is submitted.
  bool StartThread(Task* first) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static void* ThreadMain(void* new_thread);
  void RunTasks();
  Task* WaitForTask() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CountThreadOut();

  const Kind kind_;
  mutable absl::Mutex mutex_;
  absl::CondVar work_;
  absl::CondVar thread_left_;
  Task* first_ ABSL_GUARDED_BY(mutex_) = nullptr;  // the queue
  Task* last_ ABSL_GUARDED_BY(mutex_) = nullptr;
  int64_t waiting_tasks_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t idle_threads_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t threads_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t most_threads_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_HANDLER_POOL_H_
