// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Queues between threads.

#ifndef DISTBENCH_BASE_QUEUES_H_
#define DISTBENCH_BASE_QUEUES_H_

#include <atomic>
#include <deque>
#include <functional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/wakeup.h"

namespace distbench::base {

// An intrusive, unbounded, lock-free queue with many producers and one
// consumer. T has a member `T* next`, which the queue uses while it holds the
// object. The queue owns nothing.
template <typename T>
class MpscQueue {
 public:
  MpscQueue() = default;
  MpscQueue(const MpscQueue&) = delete;
  MpscQueue& operator=(const MpscQueue&) = delete;

  // Any thread. What the producer wrote to *node is visible to the consumer.
  // Returns true if the queue was empty, that is, if the consumer may need to
  // be woken.
  bool Push(T* node) {
    T* head = head_.load(std::memory_order_relaxed);
    do {
      node->next = head;
    } while (!head_.compare_exchange_weak(head, node, std::memory_order_seq_cst,
                                          std::memory_order_relaxed));
    return head == nullptr;
  }

  // Any thread; a snapshot.
  bool empty() const {
    return head_.load(std::memory_order_seq_cst) == nullptr;
  }

  // The consumer only. Takes everything, as a list linked by `next`, in the
  // order in which it was pushed.
  T* TakeAll() {
    if (head_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    T* newest_first = head_.exchange(nullptr, std::memory_order_acquire);
    T* oldest_first = nullptr;
    while (newest_first != nullptr) {
      T* next = newest_first->next;
      newest_first->next = oldest_first;
      oldest_first = newest_first;
      newest_first = next;
    }
    return oldest_first;
  }

 private:
  std::atomic<T*> head_ = nullptr;
};

// Tasks for one thread, which runs them in order. Thread-safe.
class CommandQueue {
 public:
  using Task = std::function<void()>;

  void Push(Task task) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    tasks_.push_back(std::move(task));
    wakeup_.Wake();
  }

  // Drops the tasks that are left. The thread that this wakes may destroy the
  // queue at once: Unlock() no longer touches an Abseil lock once another
  // thread can take it.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    is_closed_ = true;
    wakeup_.Wake();
  }

  // Runs tasks until the queue is closed, and on_tick whenever no task has come
  // for interval(), which is called each time.
  void RunUntilClosed(const std::function<absl::Duration()>& interval,
                      const Task& on_tick) ABSL_LOCKS_EXCLUDED(mutex_) {
    for (;;) {
      if (!wakeup_.Sleep(ToTimeoutNs(interval()))) {
        on_tick();
        continue;
      }
      while (Task task = Next()) task();
      absl::MutexLock lock(&mutex_);
      if (is_closed_) return;
    }
  }

 private:
  // Returns null if there is none, or if the queue is closed.
  Task Next() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (tasks_.empty() || is_closed_) return nullptr;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    return task;
  }

  // By the monotonic clock, which an absl::Mutex does not use: a step of the
  // host's clock would end its waits at once, or not for a long time.
  Wakeup wakeup_;
  absl::Mutex mutex_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_QUEUES_H_
