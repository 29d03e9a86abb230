// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ENGINE_ACTIVITY_POOLS_ACTIVITY_POOL_H_
#define DISTBENCH_ENGINE_ACTIVITY_POOLS_ACTIVITY_POOL_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "distbench/activity/activity.h"
#include "distbench/base/clock.h"
#include "distbench/base/object_pool.h"
#include "distbench/config/plan/plan.h"
#include "distbench/engine/activity_pools/activity_recorder.h"
#include "distbench/engine/activity_pools/iteration_pool.h"

namespace distbench::engine {

// Threads that run activities, so that milliseconds of computation do not keep
// a worker from polling and pacing. Iterations begin in the order in which they
// were submitted; the parts of one iteration are done by as many threads as are
// free.
//
// At most as many iterations run at a time as there are threads. For each there
// is an Activity, made by the thread that will prefer it, so that its memory is
// near. Thread-safe.
class ActivityPool final : public IterationPool {
 public:
  // Starts the threads, which make their activities. Without threads, Submit()
  // does the work itself, and only one thread may call it.
  explicit ActivityPool(IterationPoolOptions options);

  ~ActivityPool() override { Shutdown(); }

  absl::Status started() const override { return started_; }
  void Shutdown() override;
  absl::Status WaitUntilReady(absl::Time deadline) override;
  void Submit(int activity, Iteration& iteration,
              ActivityListener& listener) override;

  // Iterations that have begun are told to (Activity::EndSoon()).
  void DropWaiting() override;

  // Makes a thread call Activity::Release() of all activities.
  void Release() override;

  void AddTo(std::vector<ActivityRecord>& records) override;

 private:
  struct Job {
    int activity = config::kNone;
    Iteration* iteration = nullptr;
    ActivityListener* listener = nullptr;
    uint64_t number = 0;  // the iteration's number in its activity
    int64_t requested_ns = 0;

    // Set once the job has begun.
    int64_t started_ns = 0;
    std::unique_ptr<activity::Activity> work;
    int home = 0;  // the thread that made it
    int step = 0;
    int next_part = 0;
    int unfinished_parts = 0;
    activity::Work done;
  };
  // An Activity that no iteration is using.
  struct Idle {
    std::unique_ptr<activity::Activity> work;
    int home;
  };

  void MakeActivities(int thread);
  absl::Status MakeOne(int activity, int thread);
  void RunThread(int thread);
  void ReleaseAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DoNextPart(int thread) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StartJob(Job& job, int thread) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StartStep(Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Finish(Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const IterationPoolOptions options_;

  absl::Mutex mutex_;
  absl::CondVar parts_;  // signalled for each part that can be taken
  // Jobs that have begun and have parts to take are at the front.
  std::deque<Job*> jobs_ ABSL_GUARDED_BY(mutex_);
  base::ObjectPool<Job> job_pool_ ABSL_GUARDED_BY(mutex_);
  // By Plan::activities. made_activities_: all, running or idle, which live as
  // long as the pool.
  std::vector<std::vector<Idle>> idle_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::vector<activity::Activity*>> made_activities_
      ABSL_GUARDED_BY(mutex_);
  std::vector<uint64_t> next_numbers_ ABSL_GUARDED_BY(mutex_);
  std::vector<ActivityRecord> records_ ABSL_GUARDED_BY(mutex_);
  int unready_threads_ ABSL_GUARDED_BY(mutex_);
  absl::Status made_ ABSL_GUARDED_BY(mutex_);
  bool dropping_ ABSL_GUARDED_BY(mutex_) = false;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool releasing_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
  absl::Status started_;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_ACTIVITY_POOLS_ACTIVITY_POOL_H_
