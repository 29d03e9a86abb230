// The part of RunRecord that runs on the storage's thread.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/sequencer/runs/run_record.h"
#include "distbench/sequencer/runs/run_state.h"

namespace distbench::sequencer {
namespace {

// The storage reads about this much at a time for a follower.
constexpr int64_t kReadAheadBytes = 256 << 10;

}  // namespace

void RunRecord::Post(std::function<void(RunDisk&)> work) {
  if (options_.storage == nullptr) return;
  options_.storage->Post([self = shared_from_this(), work = std::move(work)](
                             RunDisk& disk) { work(disk); });
}

void RunRecord::Save() {
  Post([this](RunDisk& disk) { SaveNow(disk); });
}

void RunRecord::Commit() {
  int64_t end = 0;
  {
    absl::MutexLock lock(&mutex_);
    if (options_.storage == nullptr) return;
    ++commits_posted_;
    // Later records belong to a test that may never finish.
    end = log_.end();
  }
  Post([this, end](RunDisk& disk) { CommitNow(disk, end); });
}

void RunRecord::CommitNow(RunDisk& disk, int64_t end) {
  {
    absl::MutexLock lock(&mutex_);
    if (!log_.has_gap()) write_error_ = absl::OkStatus();
  }
  WriteNow(disk);
  const absl::Status synced =
      file_ == nullptr ? absl::OkStatus() : file_->Sync();
  {
    absl::MutexLock lock(&mutex_);
    if (synced.ok()) committed_end_ = std::min(end, log_.file_end());
    if (!write_error_.ok()) {
      storage_problem_ =
          absl::StrCat(write_error_.message(), "; ", WhatIsInMemory());
    } else if (!synced.ok()) {
      storage_problem_ = absl::StrCat(
          synced.message(), "; it is lost if the sequencer's host fails");
    } else if (log_.memory_bytes() == 0) {
      storage_problem_.clear();
    }
  }
  SaveNow(disk);
  absl::MutexLock lock(&mutex_);
  ++commits_done_;
}

absl::string_view RunRecord::WhatIsInMemory() const {
  if (result_is_dropped_) return kResultDropped;
  if (log_.has_gap()) return kPiecesDropped;
  return "it is kept in memory, until the sequencer ends";
}

// Writes the records in memory, until none are left or an error occurs.
void RunRecord::WriteNow(RunDisk& disk) {
  while (true) {
    ResultLog::Record record;
    {
      absl::MutexLock lock(&mutex_);
      is_write_posted_ = false;
      if (write_error_.ok()) record = log_.BeginWrite();
    }
    if (record == nullptr) return;
    if (file_ == nullptr) file_ = disk.NewResult(id());
    const absl::Status status = file_->Append(*record);
    {
      absl::MutexLock lock(&mutex_);
      Free([&status](ResultLog& log) { log.EndWrite(status.ok()); });
      if (!status.ok()) write_error_ = status;
    }
    memory_.NoteChange();
  }
}

void RunRecord::SaveNow(RunDisk& disk) {
  RunDescription run;
  {
    absl::MutexLock lock(&mutex_);
    run = ended_.has_value() ? *ended_ : state_.description();
    // Records that exist only in memory do not survive the process.
    if (committed_end_ > ResultLog::kBegin) {
      run.set_result_bytes(committed_end_);
    }
  }
  const absl::Status status = disk.Save(run);
  {
    absl::MutexLock lock(&mutex_);
    is_saved_ = status.ok();
    if (!status.ok() && storage_problem_.empty()) {
      storage_problem_ = absl::StrCat(status.message(),
                                      "; it is known until the sequencer ends");
    }
    if (std::exchange(is_announced_, true)) return;
  }
  Notify();
}

void RunRecord::ReadNow(int64_t follower_id) {
  int64_t offset = 0;
  int64_t end = 0;
  {
    absl::MutexLock lock(&mutex_);
    const auto it = followers_.find(follower_id);
    if (it == followers_.end()) return;
    offset = it->second->offset_;
    end = log_.file_end();
  }
  absl::StatusOr<std::deque<std::string>> records = ReadFile(offset, end);
  std::function<void()> on_news;
  {
    absl::MutexLock lock(&mutex_);
    const auto it = followers_.find(follower_id);
    if (it == followers_.end()) return;
    RunFollower& follower = *it->second;
    follower.is_reading_ = false;
    if (records.ok()) {
      follower.read_ahead_ = *std::move(records);
    } else {
      follower.read_error_ = records.status();
    }
    on_news = follower.on_news_;
  }
  on_news();
}

// Reads at least one record.
absl::StatusOr<std::deque<std::string>> RunRecord::ReadFile(int64_t offset,
                                                            int64_t end) {
  std::deque<std::string> records;
  int64_t bytes = 0;
  while (offset < end && bytes < kReadAheadBytes) {
    absl::StatusOr<std::string> record = file_->Read(offset);
    if (!record.ok()) {
      // The records before the damaged one are still good.
      if (records.empty()) return record.status();
      break;
    }
    offset += ResultLog::SizeInFile(*record);
    bytes += ResultLog::SizeInFile(*record);
    records.push_back(*std::move(record));
  }
  return records;
}

}  // namespace distbench::sequencer
