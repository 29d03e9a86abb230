// For tests: a follower that waits.

#ifndef DISTBENCH_SEQUENCER_TESTING_WAITING_FOLLOWER_H_
#define DISTBENCH_SEQUENCER_TESTING_WAITING_FOLLOWER_H_

#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/sequencer/runs/run_record.h"

namespace distbench::sequencer {

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

#endif  // DISTBENCH_SEQUENCER_TESTING_WAITING_FOLLOWER_H_
