// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/server/handler_pool.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/threads.h"

namespace distbench::protocol {

struct HandlerPool::Thread {
  HandlerPool& pool;
  Task* const first;  // the task it was started for; may be null

  // Guarded by the pool's mutex.
  bool idle = false;
  Thread* next_idle = nullptr;
  bool first_finished = false;
  absl::CondVar changed{};  // signals changes of the above
};

absl::StatusOr<std::unique_ptr<HandlerPool>> HandlerPool::Make(Kind kind,
                                                               int size) {
  std::unique_ptr<HandlerPool> pool(new HandlerPool(kind));
  if (kind == Kind::kThreadPerTask) return pool;
  const absl::MutexLock lock(&pool->mutex_);
  for (int i = 0; i < size; ++i) {
    if (pool->StartThread(nullptr)) continue;
    return absl::ResourceExhaustedError(absl::StrCat(
        "cannot start thread ", i + 1, " of ", size,
        " handler threads; lower the server setting \"threadpool_size\" or "
        "raise the system's limit of threads"));
  }
  return pool;
}

HandlerPool::~HandlerPool() {
  const absl::MutexLock lock(&mutex_);
  stopping_ = true;
  while (idle_ != nullptr) WakeIdle();
  while (threads_ > 0) thread_left_.Wait(&mutex_);
}

bool HandlerPool::Submit(Task& task) {
  const absl::MutexLock lock(&mutex_);
  if (kind_ == Kind::kThreadPerTask) return StartThread(&task);
  task.next_ = nullptr;
  (last_ == nullptr ? first_ : last_->next_) = &task;
  last_ = &task;
  ++waiting_tasks_;
  const bool needs_thread =
      kind_ == Kind::kElastic && waiting_tasks_ > threads_ - occupied_threads_;
  // Without a new thread, the task waits for an existing one.
  if (!needs_thread || !StartThread(nullptr)) WakeOneIfNeeded();
  return true;
}

void HandlerPool::Finish(Occupied occupied) {
  const absl::MutexLock lock(&mutex_);
  if (kind_ == Kind::kThreadPerTask) {
    occupied.thread->first_finished = true;
    occupied.thread->changed.Signal();
    return;
  }
  --occupied_threads_;
  WakeOneIfNeeded();
}

int64_t HandlerPool::most_threads() const {
  const absl::MutexLock lock(&mutex_);
  return most_threads_;
}

bool HandlerPool::StartThread(Task* first) {
  if (threads_ == kMaxThreads) return false;
  std::unique_ptr<Thread> start(new Thread{.pool = *this, .first = first});
  if (first != nullptr) first->occupied_.thread = start.get();
  pthread_t thread;
  if (pthread_create(&thread, nullptr, ThreadMain, start.get()) != 0) {
    return false;
  }
  start.release();  // the thread owns it now
  pthread_detach(thread);
  ++threads_;
  most_threads_ = std::max(most_threads_, threads_);
  return true;
}

void* HandlerPool::ThreadMain(void* thread) {
  const std::unique_ptr<Thread> self(static_cast<Thread*>(thread));
  base::NameThread(base::kHandlerThread);
  if (self->first != nullptr) {
    self->pool.RunOne(*self, *self->first);
  } else {
    self->pool.RunSubmitted(*self);
  }
  self->pool.CountThreadOut();
  return nullptr;
}

void HandlerPool::RunOne(Thread& self, Task& task) {
  task.Run();
  const absl::MutexLock lock(&mutex_);
  while (!self.first_finished) self.changed.Wait(&mutex_);
}

void HandlerPool::RunSubmitted(Thread& self) {
  while (true) {
    Task* task;
    {
      const absl::MutexLock lock(&mutex_);
      task = WaitForTask(self);
    }
    if (task == nullptr) return;
    task->Run();
  }
}

// Returns null if no more tasks will come.
HandlerPool::Task* HandlerPool::WaitForTask(Thread& self) {
  while (!CanStartTask()) {
    if (stopping_ && first_ == nullptr) {
      while (idle_ != nullptr) WakeIdle();
      return nullptr;
    }
    self.idle = true;
    self.next_idle = std::exchange(idle_, &self);
    while (self.idle) self.changed.Wait(&mutex_);
    waking_ = false;
  }
  --waiting_tasks_;
  ++occupied_threads_;
  Task* task = std::exchange(first_, first_->next_);
  if (first_ == nullptr) last_ = nullptr;
  WakeOneIfNeeded();
  return task;
}

bool HandlerPool::CanStartTask() const {
  return first_ != nullptr && occupied_threads_ < threads_;
}

void HandlerPool::WakeOneIfNeeded() {
  if (waking_ || idle_ == nullptr || !CanStartTask()) return;
  waking_ = true;
  WakeIdle();
}

void HandlerPool::WakeIdle() {
  Thread& thread = *std::exchange(idle_, idle_->next_idle);
  thread.idle = false;
  thread.changed.Signal();
}

void HandlerPool::CountThreadOut() {
  const absl::MutexLock lock(&mutex_);
  --threads_;
  thread_left_.Signal();
}

}  // namespace distbench::protocol
