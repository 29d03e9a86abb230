#ifndef DISTBENCH_ENGINE_ACTIVITY_POOL_H_
#define DISTBENCH_ENGINE_ACTIVITY_POOL_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "distbench/activity/activity.h"
#include "distbench/config/plan.h"

namespace distbench {

struct Iteration;

// Told when an iteration's work is done, on a thread of the pool.
class ActivityListener {
 public:
  virtual ~ActivityListener() = default;
  virtual void OnActivityDone(Iteration& iteration) = 0;
};

// The threads on which an engine's activities run, so that work of milliseconds
// keeps no worker from polling and pacing. Each thread has activities of its
// own, made when it first needs them. Thread-safe.
class ActivityPool {
 public:
  // With no threads, Submit() does the work itself. The plan must outlive the
  // pool.
  ActivityPool(const Plan& plan, uint64_t seed, int thread_count);

  // Drops what has not begun.
  ~ActivityPool();

  // If an iteration of the activity (index into Plan::activities) only waits:
  // for how long. Else 0.
  int64_t wait_ns(int activity) const { return wait_ns_[activity]; }

  // Has an iteration done, and the listener told.
  void Submit(int activity, Iteration& iteration, ActivityListener& listener);

  // Counts an iteration that was a wait, done elsewhere.
  void CountWait(int activity) { ++iteration_counts_[activity]; }

  // Iterations done.
  int64_t iteration_count(int activity) const {
    return iteration_counts_[activity];
  }

 private:
  struct Job {
    int activity;
    Iteration* iteration;
    ActivityListener* listener;
  };
  // One thread's activities, by index; made when needed.
  struct Bench {
    uint64_t seed;
    std::vector<std::unique_ptr<Activity>> activities;
  };

  Bench NewBench(int thread) const;
  void RunThread(int thread);
  void Do(const Job& job, Bench& bench);

  const Plan& plan_;
  const uint64_t seed_;
  std::vector<int64_t> wait_ns_;
  std::vector<std::atomic<int64_t>> iteration_counts_;
  Bench inline_bench_;

  absl::Mutex mutex_;
  std::deque<Job> jobs_ ABSL_GUARDED_BY(mutex_);
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace distbench

#endif  // DISTBENCH_ENGINE_ACTIVITY_POOL_H_
