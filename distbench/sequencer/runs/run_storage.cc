// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/runs/run_storage.h"

namespace distbench::sequencer {

RunStorage::~RunStorage() {
  {
    absl::MutexLock lock(&mutex_);
    is_ending_ = true;
  }
  thread_.join();
}

void RunStorage::Post(Task task) {
  absl::MutexLock lock(&mutex_);
  tasks_.push_back(std::move(task));
}

bool RunStorage::AwaitIdle(absl::Duration timeout) const {
  absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithTimeout(absl::Condition(this, &RunStorage::IsIdle),
                                 timeout);
}

void RunStorage::Loop() {
  while (true) {
    Task task;
    {
      absl::MutexLock lock(&mutex_);
      is_busy_ = false;
      mutex_.Await(absl::Condition(this, &RunStorage::HasNews));
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
      is_busy_ = true;
    }
    // Destroys the task, with everything it holds, before the storage is idle.
    std::exchange(task, nullptr)(*disk_);
  }
}

}  // namespace distbench::sequencer
