// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The state of a run, and the progress of its test.

#ifndef DISTBENCH_SEQUENCER_RUNS_RUN_STATE_H_
#define DISTBENCH_SEQUENCER_RUNS_RUN_STATE_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "proto/control.pb.h"
#include "proto/traffic_config.pb.h"

namespace distbench::sequencer {

// Whether the run is neither waiting nor running.
bool HasEnded(const RunDescription& run);

// The status that clients of an ended run receive. A run that is done has a
// message only if its result lacks something; one that failed without ever
// having started was refused (FAILED_PRECONDITION).
absl::Status EndOf(const RunDescription& run);

// Adds a sentence, unless it is empty, to the run's message.
void AddSentence(const std::string& sentence, RunDescription& run);

// Explains why a run has no result.
inline constexpr char kResultDropped[] =
    "its result was dropped to make room for later ones; the sequencer's "
    "--results_disk sets how much is kept of what is not in --results_dir";

// The test that is running, for status requests and messages. Thread-safe.
class RunStatus {
 public:
  struct RunningTest {
    TestStarted description;
    std::set<std::string> node_aliases;

    // Of its traffic: when it started, by the monotonic clock; 0: it has not.
    int64_t started_ns = 0;
    TrafficProgress progress;
  };

  void Set(std::optional<RunningTest> test) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    ended_ = TotalsWithRunning();
    test_ = std::move(test);
  }

  // Does nothing if no test is running.
  void SetStarted(int64_t now_ns) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (test_.has_value()) test_->started_ns = now_ns;
  }
  void SetProgress(const TrafficProgress& progress)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    if (test_.has_value()) test_->progress = progress;
  }

  // RPCs of all tests, those that have ended and the running one.
  TrafficProgress totals() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return TotalsWithRunning();
  }

  // Absent if no test is running.
  std::optional<RunningTest> Get() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return test_;
  }

 private:
  TrafficProgress TotalsWithRunning() const ABSL_SHARED_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  std::optional<RunningTest> test_ ABSL_GUARDED_BY(mutex_);
  TrafficProgress ended_ ABSL_GUARDED_BY(mutex_);  // of the tests before test_
};

// The name of a test in messages: config::NameOf() it, or else "tests[INDEX]".
std::string TestName(const DistributedSystemDescription& test, int test_index);

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_RUNS_RUN_STATE_H_
