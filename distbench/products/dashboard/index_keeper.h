// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Keeps an index of results up to date, in a thread of its own.

#ifndef DISTBENCH_PRODUCTS_DASHBOARD_INDEX_KEEPER_H_
#define DISTBENCH_PRODUCTS_DASHBOARD_INDEX_KEEPER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/products/history/history_index.h"
#include "distbench/products/history/result_source.h"

namespace distbench::dashboard {

// Reads results at the start, and while somebody looks at them: then it lists
// the files every few seconds, and reads those that have changed. While a test
// is running, which it would disturb, it begins nothing. Thread-safe.
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
  // Throws std::system_error if there can be no thread.
  IndexKeeper(history::HistoryIndex& index, const history::ResultSource& source,
              Options options);

  // Waits until the file that is being read is read.
  ~IndexKeeper();

  IndexKeeper(const IndexKeeper&) = delete;
  IndexKeeper& operator=(const IndexKeeper&) = delete;

  // Somebody looks at the results.
  void OnRequest() ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether results are left to be read, as far as it has looked. If they
  // cannot be, Problem() says why.
  bool IsReading() ABSL_LOCKS_EXCLUDED(mutex_);

  // Why the index could not be brought up to date when that was tried last,
  // such as a folder that is gone; empty if it could.
  std::string Problem() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);

  absl::Status Update() ABSL_LOCKS_EXCLUDED(mutex_);

  history::HistoryIndex& index_;
  const history::ResultSource& source_;
  const Options options_;

  // Of the thread: what the index has; absent while something is left to do.
  std::optional<std::vector<history::ResultEntry>> entries_;

  absl::Mutex mutex_;
  bool is_ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_reading_ ABSL_GUARDED_BY(mutex_) = true;
  std::string problem_ ABSL_GUARDED_BY(mutex_);
  int64_t watched_until_ns_ ABSL_GUARDED_BY(mutex_);  // monotonic
  std::thread thread_;
};

}  // namespace distbench::dashboard

#endif  // DISTBENCH_PRODUCTS_DASHBOARD_INDEX_KEEPER_H_
