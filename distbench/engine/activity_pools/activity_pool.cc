// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/activity_pools/activity_pool.h"

#include <algorithm>
#include <utility>

#include "distbench/activity/registry.h"
#include "distbench/base/threads.h"

namespace distbench::engine {

ActivityPool::ActivityPool(IterationPoolOptions options)
    : options_(std::move(options)),
      idle_(options_.plan->activities.size()),
      made_activities_(options_.plan->activities.size()),
      next_numbers_(options_.plan->activities.size()),
      records_(options_.plan->activities.size()),
      unready_threads_(options_.thread_count) {
  for (int i = 0; i < options_.thread_count; ++i) {
    auto thread = base::StartThread("activities", [this, i] {
      base::NameThread(base::kActivityThread);
      RunThread(i);
    });
    started_ = thread.status();
    if (!started_.ok()) return;
    threads_.push_back(*std::move(thread));
  }
}

void ActivityPool::Shutdown() {
  {
    absl::MutexLock lock(&mutex_);
    closing_ = true;
    parts_.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

absl::Status ActivityPool::WaitUntilReady(absl::Time deadline) {
  const auto ready = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return unready_threads_ == 0 || dropping_;
  };
  absl::MutexLock lock(&mutex_);
  if (!mutex_.AwaitWithDeadline(absl::Condition(&ready), deadline)) {
    return absl::DeadlineExceededError(
        "the data of its activities was not ready in time; make it smaller");
  }
  return made_;
}

void ActivityPool::Submit(int activity, Iteration& iteration,
                          ActivityListener& listener) {
  if (options_.thread_count == 0) MakeActivities(0);
  {
    absl::MutexLock lock(&mutex_);
    if (!dropping_) {
      Job& job = *job_pool_.Get();
      job.activity = activity;
      job.iteration = &iteration;
      job.listener = &listener;
      job.number = next_numbers_[activity]++;
      job.requested_ns = options_.clock->MonotonicNs();
      jobs_.push_back(&job);
      parts_.Signal();
      while (options_.thread_count == 0 && !jobs_.empty()) DoNextPart(0);
      return;
    }
  }
  listener.OnActivityDone(iteration);
}

void ActivityPool::DropWaiting() {
  std::vector<Job> dropped;
  {
    absl::MutexLock lock(&mutex_);
    dropping_ = true;
    for (const std::vector<activity::Activity*>& of_plan : made_activities_) {
      for (activity::Activity* activity : of_plan) activity->EndSoon();
    }
    while (!jobs_.empty() && jobs_.back()->work == nullptr) {
      Job& job = *jobs_.back();
      jobs_.pop_back();
      dropped.push_back({.iteration = job.iteration, .listener = job.listener});
      job_pool_.Put(&job);
    }
  }
  for (const Job& job : dropped) job.listener->OnActivityDone(*job.iteration);
}

void ActivityPool::Release() {
  absl::MutexLock lock(&mutex_);
  releasing_ = true;
  parts_.Signal();
  if (options_.thread_count == 0) ReleaseAll();
}

// To free much memory takes seconds, so this does it without the lock.
void ActivityPool::ReleaseAll() {
  releasing_ = false;
  const std::vector<std::vector<activity::Activity*>> all = made_activities_;
  mutex_.Unlock();
  for (const std::vector<activity::Activity*>& of_plan : all) {
    for (activity::Activity* activity : of_plan) activity->Release();
  }
  mutex_.Lock();
}

void ActivityPool::AddTo(std::vector<ActivityRecord>& records) {
  absl::MutexLock lock(&mutex_);
  for (size_t i = 0; i < records_.size(); ++i) records[i].Merge(records_[i]);
}

void ActivityPool::MakeActivities(int thread) {
  for (int activity : options_.activities) {
    {
      absl::MutexLock lock(&mutex_);
      if (closing_) return;
      // Without threads, the first iteration has made it already.
      if (options_.thread_count == 0 && !idle_[activity].empty()) continue;
    }
    const absl::Status made = MakeOne(activity, thread);
    if (made.ok()) continue;
    {
      absl::MutexLock lock(&mutex_);
      made_ = made;
    }
    return DropWaiting();
  }
}

absl::Status ActivityPool::MakeOne(int activity, int thread) {
  absl::StatusOr<std::unique_ptr<activity::Activity>> work =
      activity::MakeActivity(options_.plan->activities[activity],
                             options_.seed);
  if (!work.ok()) return work.status();
  absl::MutexLock lock(&mutex_);
  std::vector<activity::Activity*>& of_plan = made_activities_[activity];
  if (!of_plan.empty()) (*work)->ShareWith(*of_plan.front());
  of_plan.push_back(work->get());
  idle_[activity].push_back({*std::move(work), thread});
  return absl::OkStatus();
}

void ActivityPool::RunThread(int thread) {
  MakeActivities(thread);
  absl::MutexLock lock(&mutex_);
  --unready_threads_;
  while (true) {
    while (!closing_ && !releasing_ && jobs_.empty()) parts_.Wait(&mutex_);
    if (closing_) return;
    if (releasing_) {
      ReleaseAll();
    } else {
      DoNextPart(thread);
    }
  }
}

void ActivityPool::DoNextPart(int thread) {
  Job& job = *jobs_.front();
  if (job.work == nullptr) StartJob(job, thread);
  const int part = job.next_part++;
  if (job.next_part == job.work->part_count()) jobs_.pop_front();
  const int step = job.step;
  mutex_.Unlock();
  const activity::Work work = job.work->DoPart(job.number, step, part);
  mutex_.Lock();
  job.done += work;
  if (--job.unfinished_parts > 0) return;
  if (++job.step == job.work->step_count()) {
    Finish(job);
    return;
  }
  // Ahead of jobs that have not begun, so that started work is finished first.
  jobs_.push_front(&job);
  StartStep(job);
}

// There is always an idle Activity: an iteration begins only when no part of a
// running one can be taken, so each running iteration occupies a different
// thread.
void ActivityPool::StartJob(Job& job, int thread) {
  std::vector<Idle>& idle = idle_[job.activity];
  const auto own = std::find_if(
      idle.begin(), idle.end(),
      [thread](const Idle& candidate) { return candidate.home == thread; });
  if (own != idle.end()) std::swap(*own, idle.back());
  job.work = std::move(idle.back().work);
  job.home = idle.back().home;
  idle.pop_back();
  job.started_ns = options_.clock->MonotonicNs();
  job.step = 0;
  job.done = {};
  StartStep(job);
}

void ActivityPool::StartStep(Job& job) {
  job.next_part = 0;
  job.unfinished_parts = job.work->part_count();
  // This thread takes one part.
  for (int i = 1; i < job.unfinished_parts; ++i) parts_.Signal();
}

void ActivityPool::Finish(Job& job) {
  ActivityRecord& record = records_[job.activity];
  const int64_t done_ns = options_.clock->MonotonicNs();
  record.Add(job.requested_ns, job.started_ns, done_ns);
  record.work += job.done;
  if (options_.recorder != nullptr) {
    options_.recorder->CountDone(job.activity, done_ns, job.done,
                                 job.work.get());
  }
  idle_[job.activity].push_back({std::move(job.work), job.home});
  Iteration& iteration = *job.iteration;
  ActivityListener& listener = *job.listener;
  job_pool_.Put(&job);
  mutex_.Unlock();
  listener.OnActivityDone(iteration);
  mutex_.Lock();
}

}  // namespace distbench::engine
