// Keeps an index of results up to date, in a thread of its own.

#ifndef DISTBENCH_DASHBOARD_INDEX_KEEPER_H_
#define DISTBENCH_DASHBOARD_INDEX_KEEPER_H_

#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/history/history_index.h"
#include "distbench/history/result_source.h"

namespace distbench {

// Reads results at the start, and while somebody looks at them: then it lists
// the files every few seconds, and reads those that have changed. Waits while a
// test is running, which it would disturb. Thread-safe.
class IndexKeeper {
 public:
  struct Options {
    // Between two lists. Long lists are made less often, so that they take at
    // most 5 % of the time.
    absl::Duration interval = absl::Seconds(3);

    // For how long a request means that somebody looks.
    absl::Duration attention = absl::Minutes(1);

    // Whether a test is running.
    std::function<bool()> is_busy = [] { return false; };
  };

  // `index` and `source` must outlive the keeper.
  IndexKeeper(HistoryIndex& index, const ResultSource& source, Options options);

  // Waits until the file that is being read is read.
  ~IndexKeeper();

  IndexKeeper(const IndexKeeper&) = delete;
  IndexKeeper& operator=(const IndexKeeper&) = delete;

  // Somebody looks at the results.
  void OnRequest() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  void Update() ABSL_LOCKS_EXCLUDED(mutex_);
  bool ShouldStop() ABSL_LOCKS_EXCLUDED(mutex_);

  HistoryIndex& index_;
  const ResultSource& source_;
  const Options options_;

  // Of the thread: what the index has.
  std::vector<ResultEntry> entries_;
  bool is_complete_ = false;

  absl::Mutex mutex_;
  bool is_ended_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Time watched_until_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace distbench

#endif  // DISTBENCH_DASHBOARD_INDEX_KEEPER_H_
