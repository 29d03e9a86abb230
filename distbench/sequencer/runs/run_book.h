// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// All runs that a sequencer knows: waiting, running and ended ones.

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
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/sequencer/runs/run_directory.h"
#include "distbench/sequencer/runs/run_record.h"
#include "distbench/sequencer/runs/run_storage.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::sequencer {

// The ids of runs.

// Whether the text is a well-formed run id. Such ids consist of digits and '-',
// so they can be part of a file name. The run need not exist.
bool IsRunId(absl::string_view text);

// Generates ids that say when a run was submitted, in UTC:
// "20260131-235959-000". Each sorts after all earlier ones, even if the clock
// is set back. Not thread-safe.
class RunIds {
 public:
  // `clock` must outlive this.
  explicit RunIds(const base::Clock& clock) : clock_(clock) {}

  // Makes later ids sort after `id`, which must be a run id. One that is more
  // than a day ahead of the clock is ignored: if somebody named a file so, or a
  // clock was wrong, ids would say for years when no run was submitted, and
  // after the year 9999 they would be none.
  void Follow(absl::string_view id);

  std::string Next();

 private:
  const base::Clock& clock_;
  int64_t last_second_ = 0;  // Unix time
  int last_number_ = 0;      // within the second
};

// These limits keep a client from taking, by mistake or not, what others need.
struct RunLimits {
  // Runs that have not ended, in total and per client.
  int unfinished = 1'000;
  int unfinished_per_client = 100;

  int tests_per_run = 100'000;
  int label_bytes = 200;

  // What exists only until the process ends: bytes of the results of ended
  // runs, in temporary files, and the number of these runs, each of which may
  // have a file open. Beyond the bytes, results are dropped, except that of the
  // latest run and, for each client, the last one of its runs that is read.
  int64_t disk_bytes = int64_t{1} << 30;
  int ended = 1'000;
};

struct RunSubmission {
  const TestSequence& tests;
  std::string label;

  // The client that submits the run.
  std::string client;

  // As in RunTestsRequest.
  bool is_step = false;

  // Whether a failed test ends the run, unless it only reached its
  // overload_limits.
  bool stop_at_failure = false;

  // What is known of tests before they run, by their position. It becomes part
  // of their results.
  std::map<int, std::vector<Finding>> known_findings = {};
};

// Thread-safe.
class RunBook {
 public:
  // `clock` must outlive the book, and the book must outlive its records.
  RunBook(const RunLimits& limits, const base::Clock& clock);

  // Waits until everything is stored.
  ~RunBook();

  // Adds the runs that are on the disk, and keeps all later runs there. Call it
  // before any other method. Runs that had not ended in an earlier process
  // become interrupted ones.
  void OpenDisk(std::shared_ptr<RunDisk> disk) ABSL_LOCKS_EXCLUDED(mutex_);

  // Like OpenDisk(), with a RunDirectory.
  absl::Status OpenDirectory(const std::string& path);

  // The interrupted runs that OpenDisk() found.
  const std::vector<RunDescription>& interrupted_runs() const {
    return interrupted_runs_;
  }

  // The number of ended runs by state since the book was made, including those
  // that OpenDisk() found.
  std::map<RunDescription::State, int64_t> ended_counts() const
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns the record of a new run, which waits. The errors RESOURCE_EXHAUSTED
  // and INVALID_ARGUMENT name the limit and the remedy.
  absl::StatusOr<std::shared_ptr<RunRecord>> Add(
      const RunSubmission& submission) ABSL_LOCKS_EXCLUDED(mutex_);

  // List() and Find() do not wait for the disk: they call the handler later on
  // the storage's thread; Find() calls it at once if the run is in memory.
  //
  // Lists the oldest run first. One listing answers all calls that wait for it.
  using RunsOrError = absl::StatusOr<std::vector<RunDescription>>;
  using ListHandler = std::function<void(const RunsOrError& runs)>;
  void List(ListHandler on_listed) const ABSL_LOCKS_EXCLUDED(mutex_);

  // Lists the runs that have not ended, oldest first. Does not need the disk.
  std::vector<RunDescription> Unfinished() const ABSL_LOCKS_EXCLUDED(mutex_);

  // NOT_FOUND if there is no such run; the message suggests a similar id.
  using RunOrError = absl::StatusOr<std::shared_ptr<RunRecord>>;
  using FindHandler = std::function<void(RunOrError run)>;
  void Find(const std::string& id, FindHandler on_found)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Waits until the disk has everything that is known so far, and followers are
  // told of the ends. Returns false on timeout.
  bool AwaitStored(absl::Duration timeout) const {
    return storage_->AwaitIdle(timeout);
  }

  // If runs fail from now on, the end of the sequencer is given as the reason.
  void OnSequencerEnds() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  absl::Status CheckLimits(const RunSubmission& submission) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnEnded(const std::string& id) ABSL_LOCKS_EXCLUDED(mutex_);

  // The ended run to forget or whose result to drop next: the oldest of the
  // client that has most, so that nobody displaces the runs of others who have
  // less. `amount` says what a run counts, and `may_go` which ones there are to
  // choose from. Null if there are none that count anything.
  std::shared_ptr<RunRecord> OldestOfMost(
      absl::FunctionRef<int64_t(const RunRecord& record)> amount,
      absl::FunctionRef<bool(const RunRecord& record)> may_go) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // A run whose result has to go so that the results of ended runs stay within
  // the limit; null if they do, or if none may go.
  std::shared_ptr<RunRecord> NextToDrop() const ABSL_LOCKS_EXCLUDED(mutex_);

  // The same of a run that is forgotten. Its followers keep the record if its
  // file survives.
  std::shared_ptr<RunRecord> ForgetNext() ABSL_LOCKS_EXCLUDED(mutex_);

  // Saves what the disk has not taken before this run ended.
  void StoreAgain(const std::string& id) ABSL_LOCKS_EXCLUDED(mutex_);
  void ForgetStored() ABSL_LOCKS_EXCLUDED(mutex_);

  void Interrupt(RunDisk& disk, const RunDescription& left)
      ABSL_LOCKS_EXCLUDED(mutex_);
  RunsOrError ListNow(RunDisk& disk) const ABSL_LOCKS_EXCLUDED(mutex_);
  // The run's record; null if it is on the disk alone, or unknown.
  std::shared_ptr<RunRecord> Known(const std::string& id) const
      ABSL_LOCKS_EXCLUDED(mutex_);
  RunOrError FindNow(RunDisk& disk, const std::string& id)
      ABSL_LOCKS_EXCLUDED(mutex_);
  RunOrError OpenStored(RunDisk& disk, RunDescription run);
  absl::Status NotFound(RunDisk& disk, const std::string& id) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  const RunLimits limits_;
  const base::Clock& clock_;
  std::unique_ptr<RunStorage> storage_;
  std::vector<RunDescription> interrupted_runs_;

  mutable absl::Mutex mutex_;
  mutable std::vector<ListHandler> waiting_lists_ ABSL_GUARDED_BY(mutex_);
  RunIds ids_ ABSL_GUARDED_BY(mutex_);

  // Runs that have not ended or are not on the disk, by id. The disk's thread
  // removes them.
  std::map<std::string, std::shared_ptr<RunRecord>> records_
      ABSL_GUARDED_BY(mutex_);
  std::deque<std::string> ended_ ABSL_GUARDED_BY(mutex_);  // of records_

  std::map<RunDescription::State, int64_t> ended_counts_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_RUNS_RUN_BOOK_H_
