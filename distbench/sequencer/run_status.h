// What runs at the moment, for those who ask.

#ifndef DISTBENCH_SEQUENCER_RUN_STATUS_H_
#define DISTBENCH_SEQUENCER_RUN_STATUS_H_

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace distbench {

// Thread-safe.
class RunStatus {
 public:
  struct RunningTest {
    std::string name;
    std::set<std::string> node_aliases;
  };

  void Set(std::optional<RunningTest> test) ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    test_ = std::move(test);
  }

  // Absent if no test runs.
  std::optional<RunningTest> Get() const ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    return test_;
  }

 private:
  mutable absl::Mutex mutex_;
  std::optional<RunningTest> test_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace distbench

#endif  // DISTBENCH_SEQUENCER_RUN_STATUS_H_
