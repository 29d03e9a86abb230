// All runs that a sequencer knows: those that wait, run, and have ended.

#ifndef DISTBENCH_SEQUENCER_RUNS_RUN_BOOK_H_
#define DISTBENCH_SEQUENCER_RUNS_RUN_BOOK_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/sequencer/runs/result_memory.h"
#include "distbench/sequencer/runs/run_directory.h"
#include "distbench/sequencer/runs/run_disk.h"
#include "distbench/sequencer/runs/run_id.h"
#include "distbench/sequencer/runs/run_record.h"
#include "distbench/sequencer/runs/run_storage.h"
#include "proto/control.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench {

// So that no client, by mistake or not, takes what others need.
struct RunLimits {
  // Runs that have not ended: in all, and of one client.
  int unfinished = 1'000;
  int unfinished_per_client = 100;

  int tests_per_run = 100'000;
  int label_bytes = 200;

  // Without a directory: results in all, and runs that are remembered.
  int64_t memory_bytes = int64_t{128} << 20;
  int ended_in_memory = 1'000;
};

struct RunSubmission {
  const TestSequence& tests;
  std::string label;

  // Who submits it.
  std::string client;

  // A failed test ends the run.
  bool stop_at_failure = false;
};

// Thread-safe.
class RunBook {
 public:
  // `clock` must outlive the book, and the book its records.
  RunBook(const RunLimits& limits, const Clock& clock);

  // Waits until all is stored.
  ~RunBook();

  // Keeps runs there from now on, besides those that it has; before anything
  // else. Runs of an earlier process that had not ended are interrupted ones
  // now.
  void OpenDisk(std::shared_ptr<RunDisk> disk) ABSL_LOCKS_EXCLUDED(mutex_);

  // With a RunDirectory.
  absl::Status OpenDirectory(const std::string& path);

  // What OpenDisk() found.
  const std::vector<RunDescription>& interrupted_runs() const {
    return interrupted_runs_;
  }

  // How many runs have ended in which state, since the book was made; what
  // OpenDisk() found included.
  std::map<RunDescription::State, int64_t> ended_counts() const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // The record of a new run, which waits. RESOURCE_EXHAUSTED or
  // INVALID_ARGUMENT name the limit and the remedy.
  absl::StatusOr<std::shared_ptr<RunRecord>> Add(
      const RunSubmission& submission) ABSL_LOCKS_EXCLUDED(mutex_);

  // Neither waits for the disk: what is found is said later, on the storage's
  // thread, or at once if it is in memory.
  //
  // Oldest first.
  using ListHandler = std::function<void(std::vector<RunDescription> runs)>;
  void List(ListHandler on_listed) const ABSL_LOCKS_EXCLUDED(mutex_);

  // NOT_FOUND if there is no such run, with what may have been meant.
  using RunOrError = absl::StatusOr<std::shared_ptr<RunRecord>>;
  using FindHandler = std::function<void(RunOrError run)>;
  void Find(const std::string& id, FindHandler on_found)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until the disk has what is known so far. False: it has not.
  bool AwaitStored(absl::Duration timeout) const;

  // If runs do not end well from now on, the sequencer's end is why.
  void OnSequencerEnds() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::Status CheckLimits(const RunSubmission& submission) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnEnded(const std::string& id) ABSL_LOCKS_EXCLUDED(mutex_);
  void ForgetOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Tries again to write what a full disk did not take before this run.
  void StoreAgain(const std::string& id) ABSL_LOCKS_EXCLUDED(mutex_);
  void ForgetStored() ABSL_LOCKS_EXCLUDED(mutex_);

  // On the storage's thread, or without a disk on any.
  void WithDisk(std::function<void(RunDisk* disk)> work) const;
  void Interrupt(RunDisk& disk, RunDescription run)
      ABSL_LOCKS_EXCLUDED(mutex_);
  std::vector<RunDescription> ListNow(RunDisk* disk) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  RunOrError FindNow(RunDisk* disk, const std::string& id)
      ABSL_LOCKS_EXCLUDED(mutex_);
  RunOrError OpenStored(RunDisk& disk, RunDescription run);
  absl::Status NotFound(RunDisk* disk, const std::string& id) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  const RunLimits limits_;
  const Clock& clock_;
  ResultMemory memory_;
  std::unique_ptr<RunStorage> storage_;  // null: none
  std::vector<RunDescription> interrupted_runs_;

  mutable absl::Mutex mutex_;
  RunIds ids_ ABSL_GUARDED_BY(mutex_);

  // Those that have not ended, or are not on the disk; by id.
  std::map<std::string, std::shared_ptr<RunRecord>> records_
      ABSL_GUARDED_BY(mutex_);
  std::deque<std::string> ended_ ABSL_GUARDED_BY(mutex_);  // of records_
  std::map<RunDescription::State, int64_t> ended_counts_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_RUNS_RUN_BOOK_H_
