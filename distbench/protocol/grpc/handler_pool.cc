#include "distbench/protocol/grpc/handler_pool.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace distbench {

// What a thread is given to start with.
struct HandlerPool::NewThread {
  HandlerPool& pool;
  Task* first;
};

absl::StatusOr<std::unique_ptr<HandlerPool>> HandlerPool::Make(Kind kind,
                                                               int size) {
  std::unique_ptr<HandlerPool> pool(new HandlerPool(kind));
  if (kind == Kind::kThreadPerTask) return pool;
  const absl::MutexLock lock(&pool->mutex_);
  for (int i = 0; i < size; ++i) {
    if (pool->StartThread(nullptr)) continue;
    return absl::ResourceExhaustedError(absl::StrCat(
        "can not start thread ", i + 1, " of ", size,
        " handler threads; lower the server setting \"threadpool_size\" or "
        "raise the system's limit of threads"));
  }
  return pool;
}

HandlerPool::~HandlerPool() {
  const absl::MutexLock lock(&mutex_);
  stopping_ = true;
  work_.SignalAll();
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
      kind_ == Kind::kElastic && waiting_tasks_ > idle_threads_;
  // If there is no new one, the task waits for one of those that there are.
  if (!needs_thread || !StartThread(nullptr)) work_.Signal();
  return true;
}

int64_t HandlerPool::most_threads() const {
  const absl::MutexLock lock(&mutex_);
  return most_threads_;
}

bool HandlerPool::StartThread(Task* first) {
  if (threads_ == kMaxThreads) return false;
  auto start = std::make_unique<NewThread>(NewThread{*this, first});
  pthread_t thread;
  if (pthread_create(&thread, nullptr, ThreadMain, start.get()) != 0) {
    return false;
  }
  start.release();  // it is the thread's now
  pthread_detach(thread);
  ++threads_;
  most_threads_ = std::max(most_threads_, threads_);
  return true;
}

void* HandlerPool::ThreadMain(void* new_thread) {
  const std::unique_ptr<NewThread> start(static_cast<NewThread*>(new_thread));
  pthread_setname_np(pthread_self(), "handler");
  if (start->first != nullptr) {
    start->first->Run();
  } else {
    start->pool.RunTasks();
  }
  start->pool.CountThreadOut();
  return nullptr;
}

void HandlerPool::RunTasks() {
  while (true) {
    Task* task;
    {
      const absl::MutexLock lock(&mutex_);
      task = WaitForTask();
    }
    if (task == nullptr) return;
    task->Run();
  }
}

// Null if there will be none any more.
HandlerPool::Task* HandlerPool::WaitForTask() {
  while (first_ == nullptr) {
    if (stopping_) return nullptr;
    ++idle_threads_;
    work_.Wait(&mutex_);
    --idle_threads_;
  }
  --waiting_tasks_;
  Task* task = std::exchange(first_, first_->next_);
  if (first_ == nullptr) last_ = nullptr;
  return task;
}

void HandlerPool::CountThreadOut() {
  const absl::MutexLock lock(&mutex_);
  --threads_;
  thread_left_.Signal();
}

}  // namespace distbench
