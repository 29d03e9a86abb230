#include "distbench/engine/activity_pool.h"

#include "distbench/activity/registry.h"

namespace distbench {

ActivityPool::ActivityPool(const Plan& plan, uint64_t seed, int thread_count)
    : plan_(plan),
      seed_(seed),
      iteration_counts_(plan.activities.size()),
      inline_bench_(NewBench(/*thread=*/0)) {
  for (const ActivityPlan& activity : plan.activities) {
    wait_ns_.push_back(ActivityWaitNs(activity));
  }
  if (plan.activities.empty()) return;
  for (int i = 0; i < thread_count; ++i) {
    threads_.emplace_back([this, i] { RunThread(i); });
  }
}

ActivityPool::~ActivityPool() {
  {
    absl::MutexLock lock(&mutex_);
    closing_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

void ActivityPool::Submit(int activity, Iteration& iteration,
                          ActivityListener& listener) {
  const Job job = {activity, &iteration, &listener};
  if (threads_.empty()) {
    Do(job, inline_bench_);
    return;
  }
  absl::MutexLock lock(&mutex_);
  jobs_.push_back(job);
}

ActivityPool::Bench ActivityPool::NewBench(int thread) const {
  Bench bench;
  bench.seed = seed_ + thread;
  bench.activities.resize(plan_.activities.size());
  return bench;
}

void ActivityPool::RunThread(int thread) {
  Bench bench = NewBench(thread);
  while (true) {
    Job job;
    {
      const auto ready = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
        return closing_ || !jobs_.empty();
      };
      absl::MutexLock lock(&mutex_, absl::Condition(&ready));
      if (closing_) return;
      job = jobs_.front();
      jobs_.pop_front();
    }
    Do(job, bench);
  }
}

void ActivityPool::Do(const Job& job, Bench& bench) {
  std::unique_ptr<Activity>& activity = bench.activities[job.activity];
  if (activity == nullptr) {
    activity = MakeActivity(plan_.activities[job.activity], bench.seed);
  }
  activity->RunIteration();
  ++iteration_counts_[job.activity];
  job.listener->OnActivityDone(*job.iteration);
}

}  // namespace distbench
