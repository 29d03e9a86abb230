// The thread that waits for the disk, so that no other thread has to.

#ifndef DISTBENCH_SEQUENCER_RUNS_RUN_STORAGE_H_
#define DISTBENCH_SEQUENCER_RUNS_RUN_STORAGE_H_

#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/sequencer/runs/run_disk.h"

namespace distbench {

// Executes tasks on the disk in the order in which they were posted.
// Thread-safe.
class RunStorage {
 public:
  // Tasks must not hold a lock while they use the disk.
  using Task = std::function<void(RunDisk& disk)>;

  explicit RunStorage(std::shared_ptr<RunDisk> disk)
      : disk_(std::move(disk)), thread_([this] { Loop(); }) {}

  // Executes the remaining tasks.
  ~RunStorage();

  RunStorage(const RunStorage&) = delete;
  RunStorage& operator=(const RunStorage&) = delete;

  // Never blocks. Tasks may post tasks.
  void Post(Task task) ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until no tasks are left. Returns false on timeout.
  bool AwaitIdle(absl::Duration timeout) const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Loop() ABSL_LOCKS_EXCLUDED(mutex_);
  bool HasNews() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !tasks_.empty() || is_ending_;
  }
  bool IsIdle() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return tasks_.empty() && !is_busy_;
  }

  const std::shared_ptr<RunDisk> disk_;
  mutable absl::Mutex mutex_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  bool is_busy_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_RUNS_RUN_STORAGE_H_
