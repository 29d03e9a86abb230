// A run as others see it: its description, its state and its events.

#ifndef DISTBENCH_SEQUENCER_RUNS_RUN_RECORD_H_
#define DISTBENCH_SEQUENCER_RUNS_RUN_RECORD_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/sequencer/runs/result_log.h"
#include "distbench/sequencer/runs/result_memory.h"
#include "distbench/sequencer/runs/run_client.h"
#include "distbench/sequencer/runs/run_state.h"
#include "distbench/sequencer/runs/run_storage.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench::sequencer {

class RunFollower;

// An event for a follower, or the end, or nothing new.
struct RunNews {
  std::optional<RunTestsEvent> event;
  std::optional<absl::Status> end;
};

// The run writes, as its RunClient; any number of followers read, each at its
// own pace, from the beginning. There are three parts, with one owner each:
//
// - State: mutex_ guards the description, the records in memory and the
//   positions of the followers. It is never held while the disk works.
// - Storage: only the storage's thread writes records to the file, and reads
//   them for followers. A record stays in memory until it is in the file.
//   Followers receive the run's id, and its end, when the disk has them or has
//   failed.
// - Followers: Next() takes a record from memory, or asks the storage to read
//   some and calls on_news when they are available.
//
// The run's own thread waits in two places: for room for a piece of a result,
// and for the disk at the end of a test. While the file takes records, there is
// room for a piece if few bytes are unwritten. Otherwise the piece must fit
// into the results' memory. If it does not, it is handed to the present
// followers, one piece at a time, and dropped when all of them have taken it;
// without followers it is dropped at once. Later followers are told at the end
// which results they have missed.
//
// Thread-safe.
class RunRecord final : public RunClient,
                        public DroppableResult,
                        public std::enable_shared_from_this<RunRecord> {
 public:
  struct Options {
    // Must have id, client, label and test_names. Its state says whether the
    // run is waiting or has ended.
    RunDescription description;

    // Whether a failed test ends the run, unless it only reached its
    // overload_limits.
    bool stop_at_failure = false;

    // Must outlive the record. Null: nothing survives the process.
    RunStorage* storage = nullptr;

    // Called once, with no lock held, when the run has ended and followers are
    // about to be told.
    std::function<void()> on_ended = [] {};

    // How long the run waits for followers, or a disk, that take nothing:
    // normally, and while it is being ended.
    absl::Duration stall_timeout = absl::Seconds(60);
    absl::Duration last_stall_timeout = absl::Seconds(2);
  };

  // `memory` and `clock` must outlive the record. `file` is the result of a run
  // that has ended; it has the description's result_bytes.
  RunRecord(Options options, ResultMemory& memory, const base::Clock& clock,
            std::unique_ptr<ResultFile> file = nullptr);
  ~RunRecord() override;

  RunDescription description() const ABSL_LOCKS_EXCLUDED(mutex_);
  const std::string& id() const { return options_.description.id(); }
  const std::string& client() const { return options_.description.client(); }
  bool has_ended() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether the disk has everything that will be needed of the run.
  bool is_on_disk() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Both return at once. The storage saves the description in the state that it
  // has by then. Commit() also makes it write all records so far; if that
  // fails, the description says so.
  void Save();
  void Commit() ABSL_LOCKS_EXCLUDED(mutex_);

  // Sets the function that ends the run. Call it before others know of the run.
  void SetCanceller(std::function<void(const absl::Status&)> cancel)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // FAILED_PRECONDITION if the run has ended.
  absl::Status Cancel(const absl::Status& reason) ABSL_LOCKS_EXCLUDED(mutex_);

  // If the run fails from now on, the end of the sequencer is given as the
  // reason.
  void OnSequencerEnds() ABSL_LOCKS_EXCLUDED(mutex_);

  // RunClient:
  void OnQueuePosition(int ahead) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnRunStarted() override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnTestSetUp(int test_index) override ABSL_LOCKS_EXCLUDED(mutex_);
  void OnTestStarted(int test_index, const TestStarted& started) override;
  void OnProgress(int test_index, const TrafficProgress& progress) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status OnResultChunk(int test_index, ResultChunk chunk) override;
  absl::Status OnTestFinished(int test_index, TestResult result) override
      ABSL_LOCKS_EXCLUDED(mutex_);
  void OnSequenceDone(const absl::Status& status) override
      ABSL_LOCKS_EXCLUDED(mutex_);

  // DroppableResult:
  bool DropResult(bool cut_off) override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  friend class RunFollower;
  using Room = ResultMemory::Room;

  // ---- State
  RunDescription Describe() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void BeginToEnd() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Finish(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  void Append(const RunTestsEvent& event) ABSL_LOCKS_EXCLUDED(mutex_);

  // ---- Room, on the run's thread
  bool AwaitRoom(int test_index, int64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  Room FindRoom(int test_index, int64_t bytes, bool cut_off_readers)
      ABSL_LOCKS_EXCLUDED(mutex_);
  Room HandOver(int test_index, int64_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  bool EndStall() ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Duration Patience() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return is_ending_ ? options_.last_stall_timeout : options_.stall_timeout;
  }
  bool FileTakesRecords() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return options_.storage != nullptr && write_error_.ok();
  }
  void DropPieceOf(int test_index) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropTaken() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Calls `drop` with the log, and releases the memory that it frees.
  int64_t Free(const std::function<void(ResultLog& log)>& drop)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // ---- Storage: functions that post work, and functions on its thread
  void Post(std::function<void(RunDisk& disk)> work);
  void WriteNow(RunDisk& disk) ABSL_LOCKS_EXCLUDED(mutex_);
  void CommitNow(RunDisk& disk, int64_t end) ABSL_LOCKS_EXCLUDED(mutex_);
  void SaveNow(RunDisk& disk) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::string_view WhatIsInMemory() const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ReadNow(int64_t follower_id) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<std::deque<std::string>> ReadFile(int64_t offset, int64_t end);

  // ---- Followers
  void AddFollower(RunFollower& follower) ABSL_LOCKS_EXCLUDED(mutex_);
  void RemoveFollower(RunFollower& follower) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnTaken() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  RunNews NextFor(RunFollower& follower) ABSL_LOCKS_EXCLUDED(mutex_);
  RunNews NewsFor(RunFollower& follower) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<RunTestsEvent> LiveNewsFor(RunFollower& follower)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  ResultLog::Record TakeRecord(RunFollower& follower)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status EndFor(const RunFollower& follower) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsWanted(int test_index) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasFollowers() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  int64_t SlowestOffset() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CutOff(int64_t offset, const absl::Status& reason)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Notify() const ABSL_LOCKS_EXCLUDED(mutex_);

  const Options options_;
  ResultMemory& memory_;
  const base::Clock& clock_;

  std::unique_ptr<ResultFile> file_;  // used by the storage's thread

  mutable absl::Mutex mutex_;
  RunState state_ ABSL_GUARDED_BY(mutex_);
  std::function<void(const absl::Status&)> cancel_ ABSL_GUARDED_BY(mutex_);
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  int finished_count_ ABSL_GUARDED_BY(mutex_) = 0;  // finished tests

  // Set when the run has ended; end_ follows when it is stored.
  std::optional<RunDescription> ended_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);

  ResultLog log_ ABSL_GUARDED_BY(mutex_);
  bool result_is_dropped_ ABSL_GUARDED_BY(mutex_) = false;
  int first_whole_test_ ABSL_GUARDED_BY(mutex_) = 0;  // none dropped from here

  std::string storage_problem_ ABSL_GUARDED_BY(mutex_);
  absl::Status write_error_ ABSL_GUARDED_BY(mutex_);  // until the next commit
  bool is_write_posted_ ABSL_GUARDED_BY(mutex_) = false;
  int commits_posted_ ABSL_GUARDED_BY(mutex_) = 0;
  int commits_done_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t committed_end_ ABSL_GUARDED_BY(mutex_);  // offset
  bool is_saved_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_announced_ ABSL_GUARDED_BY(mutex_);  // the disk knows the run

  // By id.
  std::map<int64_t, RunFollower*> followers_ ABSL_GUARDED_BY(mutex_);
  int64_t next_follower_id_ ABSL_GUARDED_BY(mutex_) = 0;

  // Versions of the events of which followers need only the newest. Progress
  // comes before the record at progress_offset_.
  int queue_version_ ABSL_GUARDED_BY(mutex_) = 0;
  int progress_version_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t progress_offset_ ABSL_GUARDED_BY(mutex_) = 0;
  RunTestsEvent progress_ ABSL_GUARDED_BY(mutex_);
};

// Reads a record.
class RunFollower {
 public:
  // `on_news` is called, on any thread, when Next() may have something new, and
  // possibly once more after the follower was destroyed. It must not block.
  RunFollower(std::shared_ptr<RunRecord> record, std::function<void()> on_news);
  ~RunFollower();

  RunFollower(const RunFollower&) = delete;
  RunFollower& operator=(const RunFollower&) = delete;

  // Returns first the run's id, then events as in RunTests, then the end. Tests
  // that had ended before the follower was made have no start. A test's result
  // is either complete or without any of its pieces; if anything is missing,
  // the end is an error that names it. Never blocks.
  RunNews Next() { return record_->NextFor(*this); }

  // Whether the run waited for this follower, and has given up on it.
  bool is_cut_off() const {
    absl::MutexLock lock(&record_->mutex_);
    return !cut_off_.ok();
  }

 private:
  friend class RunRecord;

  bool Gets(const RunTestsEvent& event) const;

  const std::shared_ptr<RunRecord> record_;
  const std::function<void()> on_news_;

  // The rest is guarded by the record's mutex_.
  int64_t id_ = 0;
  bool id_is_said_ = false;
  int queue_version_ = 0;
  int progress_version_ = 0;
  int64_t offset_ = ResultLog::kBegin;  // of the next record to take
  bool is_reading_ = false;             // the storage reads for this follower
  std::deque<std::string> read_ahead_;  // read from the file at offset_
  absl::Status read_error_;
  int tests_before_ = 0;      // tests that had ended when it was made
  int first_whole_test_ = 0;  // when it was made
  std::string missing_;       // missing results; empty: none
  absl::Status cut_off_;
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_RUNS_RUN_RECORD_H_
