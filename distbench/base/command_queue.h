#ifndef DISTBENCH_BASE_COMMAND_QUEUE_H_
#define DISTBENCH_BASE_COMMAND_QUEUE_H_

#include <deque>
#include <functional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace distbench {

// Tasks for one thread, which runs them in order. Thread-safe.
class CommandQueue {
 public:
  using Task = std::function<void()>;

  void Push(Task task) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    tasks_.push_back(std::move(task));
  }

  // Drops the tasks that are left. The thread that this wakes may destroy the
  // queue at once: Unlock() no longer touches an Abseil lock once another
  // thread can take it.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    is_closed_ = true;
  }

  // Runs tasks until the queue is closed, and on_tick whenever no task has come
  // for interval(), which is called each time.
  void RunUntilClosed(const std::function<absl::Duration()>& interval,
                      const Task& on_tick) ABSL_LOCKS_EXCLUDED(mutex_) {
    for (;;) {
      Task task = on_tick;
      const absl::Duration patience = interval();
      {
        absl::MutexLock lock(&mutex_);
        mutex_.AwaitWithTimeout(absl::Condition(this, &CommandQueue::HasWork),
                                patience);
        if (is_closed_) return;
        if (!tasks_.empty()) {
          task = std::move(tasks_.front());
          tasks_.pop_front();
        }
      }
      task();
    }
  }

 private:
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !tasks_.empty() || is_closed_;
  }

  absl::Mutex mutex_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace distbench

#endif  // DISTBENCH_BASE_COMMAND_QUEUE_H_
