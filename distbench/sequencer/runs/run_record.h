// A run as others see it: what it is, how far it is, and what it has to say.

#ifndef DISTBENCH_SEQUENCER_RUNS_RUN_RECORD_H_
#define DISTBENCH_SEQUENCER_RUNS_RUN_RECORD_H_

#include <cstdint>
#include <functional>
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
#include "distbench/sequencer/runs/result_log.h"
#include "distbench/sequencer/runs/result_memory.h"
#include "distbench/sequencer/runs/run_client.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench {

class RunFollower;

// What there is for a follower: an event, or the end, or nothing yet.
struct RunNews {
  std::optional<RunTestsEvent> event;
  std::optional<absl::Status> end;
};

// The run writes, as its RunClient; any number of followers read, each at its
// own pace, from the beginning. Results go to a file if there is one, else to
// memory. Nobody waits for anybody, but for one case: a run whose results fit
// neither waits for its followers, drops what all of them have read, and says
// so. Thread-safe.
class RunRecord final : public RunClient, public DroppableResult {
 public:
  struct Options {
    // With id, client, label and test_names. The state decides: of a run that
    // waits, or that has ended.
    RunDescription description;

    // A failed test ends the run.
    bool stop_at_failure = false;

    // Puts the description where it survives the process. The error says why
    // it does not.
    std::function<absl::Status(const RunDescription& description)> save =
        [](const RunDescription&) { return absl::OkStatus(); };

    // The run is over. Called once, with no lock held.
    std::function<void()> on_ended = [] {};

    // A follower that the run waits for is cut off if it takes nothing for
    // this long.
    absl::Duration stall_timeout = absl::Seconds(60);
  };

  // `memory` and `clock` must outlive the record.
  RunRecord(Options options, std::unique_ptr<ResultLog> log,
            ResultMemory& memory, const Clock& clock);
  ~RunRecord() override;

  RunDescription description() const ABSL_LOCKS_EXCLUDED(mutex_);
  const std::string& id() const { return options_.description.id(); }
  const std::string& client() const { return options_.description.client(); }
  bool has_ended() const ABSL_LOCKS_EXCLUDED(mutex_);

  // All that will be needed of it is on the disk.
  bool is_on_disk() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Saves the description as it is; and what the run has said so far as well.
  // If they can not be written, the description says so.
  void Save() ABSL_LOCKS_EXCLUDED(mutex_, save_mutex_);
  void Commit() ABSL_LOCKS_EXCLUDED(mutex_, save_mutex_);

  // How to end the run; before others know of it.
  void SetCanceller(std::function<void(const absl::Status&)> cancel)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // FAILED_PRECONDITION if it has ended.
  absl::Status Cancel(const absl::Status& reason) ABSL_LOCKS_EXCLUDED(mutex_);

  // If the run does not end well from now on, the sequencer's end is why.
  void OnSequencerEnds() ABSL_LOCKS_EXCLUDED(mutex_);

  // Of the run.
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

  // Of the memory.
  void DropResult() override ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  friend class RunFollower;

  void AddFollower(RunFollower& follower) ABSL_LOCKS_EXCLUDED(mutex_);
  void RemoveFollower(RunFollower& follower) ABSL_LOCKS_EXCLUDED(mutex_);
  RunNews NextFor(RunFollower& follower) ABSL_LOCKS_EXCLUDED(mutex_);
  static bool IsFor(const RunFollower& follower, const RunTestsEvent& event);
  std::optional<RunTestsEvent> LiveNewsFor(RunFollower& follower)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status End() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Notify() const ABSL_LOCKS_EXCLUDED(mutex_);

  void Append(const RunTestsEvent& event) ABSL_LOCKS_EXCLUDED(mutex_);
  void KeepInMemory(std::string record, const RunTestsEvent& event)
      ABSL_LOCKS_EXCLUDED(mutex_);
  bool MakeRoom(int test_index) ABSL_LOCKS_EXCLUDED(mutex_);
  int64_t SlowestOffset() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CutOff(int64_t offset) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Calls `drop` with the log, and releases what it frees.
  template <typename Function>
  int64_t Free(Function drop) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  RunDescription Describe() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  RunDescription::State FinalState(const absl::Status& status) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  ResultMemory& memory_;
  const Clock& clock_;

  // Descriptions are saved in the order in which they were made.
  absl::Mutex save_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);

  mutable absl::Mutex mutex_;
  RunDescription description_ ABSL_GUARDED_BY(mutex_);
  std::string storage_problem_ ABSL_GUARDED_BY(mutex_);
  bool is_saved_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<ResultLog> log_ ABSL_GUARDED_BY(mutex_);
  bool result_is_dropped_ ABSL_GUARDED_BY(mutex_) = false;
  int first_whole_test_ ABSL_GUARDED_BY(mutex_) = 0;  // without dropped pieces
  std::function<void(const absl::Status&)> cancel_ ABSL_GUARDED_BY(mutex_);
  std::set<RunFollower*> followers_ ABSL_GUARDED_BY(mutex_);

  // What replaces what followers have not read yet. Progress comes before the
  // record at progress_offset_.
  int queue_version_ ABSL_GUARDED_BY(mutex_) = 0;
  int progress_version_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t progress_offset_ ABSL_GUARDED_BY(mutex_) = 0;
  RunTestsEvent progress_ ABSL_GUARDED_BY(mutex_);

  int finished_count_ ABSL_GUARDED_BY(mutex_) = 0;  // of tests
  bool has_failed_test_ ABSL_GUARDED_BY(mutex_) = false;
  bool sequencer_ends_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
};

// One reader of a record.
class RunFollower {
 public:
  // `on_news` is called, on any thread, when Next() may have more than it had,
  // and maybe once more when the follower is gone. It must not block.
  RunFollower(std::shared_ptr<RunRecord> record, std::function<void()> on_news);
  ~RunFollower();

  RunFollower(const RunFollower&) = delete;
  RunFollower& operator=(const RunFollower&) = delete;

  // First the run's id, then events as of RunTests, then the end. A test that
  // had ended before the follower came has no start. The result of a test is
  // all there, or without any of its pieces.
  RunNews Next() { return record_->NextFor(*this); }

  // The run waited for it, and does so no longer.
  bool is_cut_off() const {
    absl::MutexLock lock(&record_->mutex_);
    return !cut_off_.ok();
  }

 private:
  friend class RunRecord;

  const std::shared_ptr<RunRecord> record_;
  const std::function<void()> on_news_;

  // Guarded by the record's mutex_.
  bool id_is_said_ = false;
  int queue_version_ = 0;
  int progress_version_ = 0;
  int64_t offset_ = ResultLog::kBegin;
  int tests_before_ = 0;  // that had ended when it came
  int first_whole_test_ = 0;  // when it came
  absl::Status cut_off_;
};

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_RUNS_RUN_RECORD_H_
