// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A run as others see it: its description, its state and its events.

#ifndef DISTBENCH_SEQUENCER_RUNS_RUN_RECORD_H_
#define DISTBENCH_SEQUENCER_RUNS_RUN_RECORD_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/sequencer/runs/run_storage.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench::sequencer {

class RunFollower;

// An event for a follower, or the end, or nothing new.
struct RunNews {
  std::optional<RunTestsEvent> event = {};
  std::optional<absl::Status> end = {};
};

// The run writes; any number of followers read, each at its own pace, from the
// beginning. All of them read the run's file: a record is in memory only on its
// way there. There are three parts, with one owner each:
//
// - State: mutex_ guards the description, the records on their way to the file
//   and the positions of the followers. It is never held while the disk works.
// - Storage: only the storage's thread writes records to the file, and reads
//   them for followers. Followers receive the run's id, and its end, when the
//   disk has them or has failed.
// - Followers: Next() asks the storage to read some records. on_news is called
//   when they are available.
//
// The run's own thread waits only for the disk: while too much is on its way,
// and at the end of a test. If the disk fails, or takes nothing for too long,
// the result of that test is lost: the rest of it is not recorded, the run says
// so in its description, and followers are told at the end. Later tests are
// recorded if the disk takes them.
//
// Thread-safe.
class RunRecord final : public std::enable_shared_from_this<RunRecord> {
 public:
  struct Options {
    // Must have id, client, label and test_names. Its state says whether the
    // run is waiting or has ended.
    RunDescription description;

    // Whether a failed test ends the run, unless it only reached its
    // overload_limits.
    bool stop_at_failure = false;

    // Must outlive the record.
    RunStorage* storage = nullptr;

    // The run waits while more bytes than this are on their way to the file.
    int64_t memory_bytes = 1 << 20;

    // Called once, with no lock held, on the storage's thread, when the run has
    // ended and followers are about to be told.
    std::function<void()> on_ended = [] {};

    // How long the run waits for a disk that takes nothing: normally, and while
    // it is being ended. The former is also how long a follower that takes
    // nothing keeps the result of an ended run.
    absl::Duration stall_timeout = absl::Seconds(60);
    absl::Duration last_stall_timeout = absl::Seconds(2);
  };

  // `clock` must outlive the record. `file` is the result of a run that has
  // ended; it has the description's result_bytes.
  RunRecord(Options options, const base::Clock& clock,
            std::unique_ptr<ResultFile> file = nullptr);
  ~RunRecord();

  RunDescription description() const ABSL_LOCKS_EXCLUDED(mutex_);
  const std::string& id() const { return options_.description.id(); }
  const std::string& client() const { return options_.description.client(); }
  bool has_ended() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether the disk has everything that will be needed of the run, also by a
  // later process.
  bool is_on_disk() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Bytes on their way to the file.
  int64_t unwritten_bytes() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Bytes of a file that does not survive the process.
  int64_t temporary_bytes() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether there are followers that took something within stall_timeout, or
  // for which there was nothing.
  bool is_followed() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Closes the file of a run that has ended, whose description then says so.
  // Gives up its followers. For the storage's thread.
  void DropResult() ABSL_LOCKS_EXCLUDED(mutex_);

  // Both return at once. The storage saves the description in the state that it
  // has by then. Commit() also makes it write all records so far, and wait
  // until they are on the disk; if that fails, the description says so.
  void Save();
  void Commit() ABSL_LOCKS_EXCLUDED(mutex_);

  // Sets the function that ends the run. Calls it at once if the run was
  // cancelled before.
  void SetCanceller(std::function<void(const absl::Status&)> cancel)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // FAILED_PRECONDITION if the run has ended.
  absl::Status Cancel(const absl::Status& reason) ABSL_LOCKS_EXCLUDED(mutex_);

  // If the run fails from now on, the end of the sequencer is given as the
  // reason.
  void OnSequencerEnds() ABSL_LOCKS_EXCLUDED(mutex_);

  // The run calls the following methods, by one thread at a time, in this
  // order: queue positions, run started, then for each test set up, started,
  // progress, pieces and finished, then done.

  // Does not block.
  void OnQueuePosition(int ahead) ABSL_LOCKS_EXCLUDED(mutex_);

  void OnRunStarted() ABSL_LOCKS_EXCLUDED(mutex_);

  // The test is about to be set up; its traffic starts later, if at all.
  void OnTestSetUp(int test_index) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnTestStarted(int test_index, const TestStarted& started);
  void OnProgress(int test_index, const TrafficProgress& progress)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // A piece of the result. Blocks while too much is on its way to the file.
  void OnResultChunk(int test_index, ResultChunk chunk);

  // The test has ended; `result` has no service_logs. Blocks until the disk has
  // it. An error ends the sequence.
  absl::Status OnTestFinished(int test_index, TestResult result)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // The sequence has ended.
  void OnSequenceDone(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  friend class RunFollower;

  // ---- State
  RunDescription Ended(const absl::Status& status) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  RunDescription::State FinalState(const absl::Status& status) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Finish(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  std::string Missing() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // ---- Records on their way to the file, on the run's thread
  struct Unwritten {
    int test_index;
    std::string record;
  };
  void Append(const RunTestsEvent& event) ABSL_LOCKS_EXCLUDED(mutex_);
  bool AwaitRoom(int test_index) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Lose(int test_index, const absl::Status& why)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // ---- Storage: functions that post work, and functions on its thread
  void Post(std::function<void(RunDisk& disk)> work);
  void WriteNow(RunDisk& disk) ABSL_LOCKS_EXCLUDED(mutex_);
  void CommitNow(RunDisk& disk) ABSL_LOCKS_EXCLUDED(mutex_);
  void SaveNow(RunDisk& disk) ABSL_LOCKS_EXCLUDED(mutex_);
  RunDescription ToSave() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ReadNow(int64_t follower_id) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<std::deque<std::string>> ReadFile(int64_t offset, int64_t end);

  // ---- Followers
  RunNews NewsFor(RunFollower& follower) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<RunTestsEvent> LiveNewsFor(RunFollower& follower)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<std::string> TakeRecord(RunFollower& follower)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status EndForFollowers() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Notify() const ABSL_LOCKS_EXCLUDED(mutex_);

  const Options options_;
  const base::Clock& clock_;

  std::unique_ptr<ResultFile> file_;  // used by the storage's thread

  mutable absl::Mutex mutex_;
  RunDescription description_ ABSL_GUARDED_BY(mutex_);  // until the run ends
  std::function<void(const absl::Status&)> cancel_ ABSL_GUARDED_BY(mutex_);
  absl::Status cancel_reason_
      ABSL_GUARDED_BY(mutex_);  // while it has no cancel_
  bool has_incomplete_test_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_invalid_test_ ABSL_GUARDED_BY(mutex_) = false;
  bool sequencer_ends_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  int finished_count_ ABSL_GUARDED_BY(mutex_) = 0;  // finished tests

  // Set when the run has ended; end_ follows when it is stored.
  std::optional<RunDescription> ended_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);

  std::deque<Unwritten> unwritten_ ABSL_GUARDED_BY(mutex_);
  // As many as the file will have more, with the record that is being written.
  int64_t unwritten_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t file_end_ ABSL_GUARDED_BY(mutex_);

  // Where it ended when all was on the disk, at the end of a test or of the
  // run.
  int64_t committed_end_ ABSL_GUARDED_BY(mutex_);

  std::set<int> lost_tests_ ABSL_GUARDED_BY(mutex_);
  absl::Status loss_ ABSL_GUARDED_BY(mutex_);  // why the last one was lost

  // The run has waited for the disk in vain, and does not wait again until the
  // disk has taken something, or has failed.
  bool is_stalled_ ABSL_GUARDED_BY(mutex_) = false;

  bool is_dropped_ ABSL_GUARDED_BY(mutex_) = false;   // see DropResult()
  std::string sync_problem_ ABSL_GUARDED_BY(mutex_);  // of the result
  std::string save_problem_ ABSL_GUARDED_BY(mutex_);  // of the description
  bool is_write_posted_ ABSL_GUARDED_BY(mutex_) = false;
  int commits_posted_ ABSL_GUARDED_BY(mutex_) = 0;
  int commits_done_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_saved_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_announced_ ABSL_GUARDED_BY(mutex_) = false;  // the disk knows the run

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
  // that had ended before the follower was made have no start. A test that was
  // lost has no end, and if there is one, the end of the run is an error that
  // names it. Never blocks.
  RunNews Next();

  // Whether the record waits no longer for this follower: whoever has it should
  // end it, and whatever it waits for itself.
  bool is_given_up() const;

 private:
  friend class RunRecord;

  const std::shared_ptr<RunRecord> record_;
  const std::function<void()> on_news_;

  // The rest is guarded by the record's mutex_.
  int64_t id_ = 0;
  bool id_is_said_ = false;
  int queue_version_ = 0;
  int progress_version_ = 0;
  int64_t offset_ = ResultFile::kBegin;  // of the next record to take
  bool is_reading_ = false;              // the storage reads for this follower
  std::deque<std::string> read_ahead_;   // read from the file at offset_
  int tests_before_ = 0;       // tests that had ended when it was made
  int64_t idle_since_ns_ = 0;  // took nothing, or there was nothing; monotonic
  bool is_given_up_ = false;
  absl::Status error_;  // there is no way to go on
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_RUNS_RUN_RECORD_H_
