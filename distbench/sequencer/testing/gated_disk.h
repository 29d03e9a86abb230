// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// For tests: a disk that blocks or fails on demand.

#ifndef DISTBENCH_SEQUENCER_TESTING_GATED_DISK_H_
#define DISTBENCH_SEQUENCER_TESTING_GATED_DISK_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/sequencer/runs/run_storage.h"

namespace distbench::sequencer {

// Forwards calls to another disk, on the calling thread. Thread-safe.
class GatedDisk final : public RunDisk {
 public:
  explicit GatedDisk(std::unique_ptr<RunDisk> disk) : disk_(std::move(disk)) {}

  // Blocks every call until Open().
  void Close() {
    absl::MutexLock lock(&mutex_);
    is_open_ = false;
  }
  void Open() {
    absl::MutexLock lock(&mutex_);
    is_open_ = true;
  }

  // Waits until a call is blocked. Returns false on timeout.
  bool AwaitCall() {
    absl::MutexLock lock(&mutex_);
    return mutex_.AwaitWithTimeout(absl::Condition(&is_waiting_),
                                   absl::Minutes(1));
  }

  // Makes later calls that write fail with these errors, unless they are OK.
  void FailWrites(const absl::Status& append, const absl::Status& sync,
                  const absl::Status& save) {
    absl::MutexLock lock(&mutex_);
    append_error_ = append;
    sync_error_ = sync;
    save_error_ = save;
  }
  void FailReads(const absl::Status& error) {
    absl::MutexLock lock(&mutex_);
    read_error_ = error;
  }

  // How often the runs were listed.
  int list_count() const { return list_count_; }

  bool survives() const override { return disk_->survives(); }
  absl::Status Save(const RunDescription& description) override {
    const absl::Status status = Pass(save_error_);
    return status.ok() ? disk_->Save(description) : status;
  }
  absl::StatusOr<RunDescription> Load(const std::string& id) override {
    Pass(no_error_).IgnoreError();
    return disk_->Load(id);
  }
  absl::StatusOr<std::vector<RunDescription>> List() override {
    Pass(no_error_).IgnoreError();
    ++list_count_;
    return disk_->List();
  }
  std::unique_ptr<ResultFile> NewResult(const std::string& id) override {
    return std::make_unique<File>(*this, disk_->NewResult(id));
  }
  absl::StatusOr<std::unique_ptr<ResultFile>> OpenResult(
      const std::string& id, int64_t size) override {
    Pass(no_error_).IgnoreError();
    auto file = disk_->OpenResult(id, size);
    if (!file.ok()) return file.status();
    return std::make_unique<File>(*this, *std::move(file));
  }

 private:
  class File final : public ResultFile {
   public:
    File(GatedDisk& disk, std::unique_ptr<ResultFile> file)
        : disk_(disk), file_(std::move(file)) {}

    absl::Status Append(const std::string& record) override {
      const absl::Status status = disk_.Pass(disk_.append_error_);
      return status.ok() ? file_->Append(record) : status;
    }
    absl::Status Sync() override {
      const absl::Status status = disk_.Pass(disk_.sync_error_);
      return status.ok() ? file_->Sync() : status;
    }
    absl::StatusOr<std::string> Read(int64_t offset) override {
      const absl::Status status = disk_.Pass(disk_.read_error_);
      if (!status.ok()) return status;
      return file_->Read(offset);
    }

   private:
    GatedDisk& disk_;
    const std::unique_ptr<ResultFile> file_;
  };

  absl::Status Pass(const absl::Status& error) {
    absl::MutexLock lock(&mutex_);
    is_waiting_ = !is_open_;
    mutex_.Await(absl::Condition(&is_open_));
    is_waiting_ = false;
    return error;
  }

  const std::unique_ptr<RunDisk> disk_;
  std::atomic<int> list_count_ = 0;
  absl::Mutex mutex_;
  bool is_open_ ABSL_GUARDED_BY(mutex_) = true;
  bool is_waiting_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status append_error_ ABSL_GUARDED_BY(mutex_);
  absl::Status sync_error_ ABSL_GUARDED_BY(mutex_);
  absl::Status save_error_ ABSL_GUARDED_BY(mutex_);
  absl::Status read_error_ ABSL_GUARDED_BY(mutex_);
  const absl::Status no_error_;
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_TESTING_GATED_DISK_H_
