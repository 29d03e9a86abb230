// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// For tests: waits for the answers of a RunBook.

#ifndef DISTBENCH_SEQUENCER_TESTING_RUN_BOOK_TESTING_H_
#define DISTBENCH_SEQUENCER_TESTING_RUN_BOOK_TESTING_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "distbench/sequencer/runs/run_book.h"
#include "distbench/sequencer/runs/run_record.h"
#include "gtest/gtest.h"

namespace distbench::sequencer {

inline RunBook::RunsOrError TryListRuns(const RunBook& book) {
  RunBook::RunsOrError result = absl::UnknownError("not listed yet");
  absl::Notification is_listed;
  book.List([&](const RunBook::RunsOrError& runs) {
    result = runs;
    is_listed.Notify();
  });
  is_listed.WaitForNotification();
  return result;
}

// The same if the runs can be listed, as they must.
inline std::vector<RunDescription> ListRuns(const RunBook& book) {
  const RunBook::RunsOrError runs = TryListRuns(book);
  EXPECT_TRUE(runs.ok()) << runs.status();
  return runs.ok() ? *runs : std::vector<RunDescription>();
}

inline RunBook::RunOrError FindRun(RunBook& book, const std::string& id) {
  RunBook::RunOrError result = absl::UnknownError("not found yet");
  absl::Notification is_found;
  book.Find(id, [&](RunBook::RunOrError run) {
    result = std::move(run);
    is_found.Notify();
  });
  is_found.WaitForNotification();
  return result;
}

// For tests: a follower that waits.

// For use by one thread.
class WaitingFollower {
 public:
  explicit WaitingFollower(std::shared_ptr<RunRecord> record)
      : follower_(std::move(record), [news = news_] {
          absl::MutexLock lock(&news->mutex);
          news->is_there = true;
        }) {}

  // Waits for news; returns nothing if that takes more than a minute.
  RunNews Next() {
    while (true) {
      RunNews news = follower_.Next();
      if (news.event.has_value() || news.end.has_value()) return news;
      absl::MutexLock lock(&news_->mutex);
      if (!news_->mutex.AwaitWithTimeout(absl::Condition(&news_->is_there),
                                         absl::Minutes(1))) {
        return {};
      }
      news_->is_there = false;
    }
  }

 private:
  struct News {
    absl::Mutex mutex;
    bool is_there ABSL_GUARDED_BY(mutex) = false;
  };

  // Outlives the last call of the handler.
  const std::shared_ptr<News> news_ = std::make_shared<News>();
  RunFollower follower_;
};

}  // namespace distbench::sequencer

#endif  // DISTBENCH_SEQUENCER_TESTING_RUN_BOOK_TESTING_H_
