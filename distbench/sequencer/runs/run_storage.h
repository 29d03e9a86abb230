// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The disk on which runs are kept, and the thread that waits for it, so that no
// other thread has to.

#ifndef DISTBENCH_SEQUENCER_RUNS_RUN_STORAGE_H_
#define DISTBENCH_SEQUENCER_RUNS_RUN_STORAGE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/control.pb.h"

namespace distbench::sequencer {

// A file with the events of a run, one record each. Records are appended at the
// end and read from anywhere, by their positions in the file. Errors name the
// file.
class ResultFile {
 public:
  // The position of the first record.
  static constexpr int64_t kBegin = 8;

  // What precedes each record.
  static constexpr int64_t kRecordHeaderBytes = 8;

  // The bytes that a record takes in the file.
  static int64_t SizeOf(const std::string& record) {
    return kRecordHeaderBytes + static_cast<int64_t>(record.size());
  }

  virtual ~ResultFile() = default;

  // Adds a record at the end. An error leaves the file as it was before.
  virtual absl::Status Append(const std::string& record) = 0;

  // Returns when all records are on the disk.
  virtual absl::Status Sync() = 0;

  // Reads the record at `offset`. DATA_LOSS if there is none, or it is damaged.
  virtual absl::StatusOr<std::string> Read(int64_t offset) = 0;
};

// Calls take as long as the disk does, perhaps forever. Therefore only the
// thread of RunStorage makes calls and destroys files.
class RunDisk {
 public:
  virtual ~RunDisk() = default;

  // Whether a later process finds here what this one has stored. Any thread may
  // ask. Otherwise, there are only the results that are open.
  virtual bool survives() const = 0;

  // Returns when the description is on the disk.
  virtual absl::Status Save(const RunDescription& description) = 0;

  // NOT_FOUND if there is no such run, or `id` is not a run id.
  virtual absl::StatusOr<RunDescription> Load(const std::string& id) = 0;

  // Oldest first. A description that cannot be read has state UNKNOWN, and its
  // message says why. The error says why the disk cannot say which there are.
  virtual absl::StatusOr<std::vector<RunDescription>> List() = 0;

  // A new file, created when the first record is appended.
  virtual std::unique_ptr<ResultFile> NewResult(const std::string& id) = 0;

  // Opens the first `size` bytes of a file for reading.
  virtual absl::StatusOr<std::unique_ptr<ResultFile>> OpenResult(
      const std::string& id, int64_t size) = 0;
};

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

  // See RunDisk.
  bool survives() const { return disk_->survives(); }

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

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_RUNS_RUN_STORAGE_H_
