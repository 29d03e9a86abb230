// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/sequencer/runs/run_queue.h"

#include <algorithm>
#include <utility>

#include "distbench/base/memory.h"

namespace distbench::sequencer {

RunQueue::RunQueue() : thread_([this] { Loop(); }) {}

RunQueue::~RunQueue() {
  Close(absl::CancelledError("the queue has ended"));
  thread_.join();
}

void RunQueue::Submit(std::shared_ptr<QueuedRun> run, bool preempt) {
  absl::Status refusal;
  {
    absl::MutexLock lock(&mutex_);
    if (closed_) {
      refusal = close_reason_;
    } else {
      const auto place =
          preempt ? std::find_if(waiting_.begin(), waiting_.end(),
                                 [](const auto& w) { return !w.preempt; })
                  : waiting_.end();
      const auto placed = waiting_.insert(place, {run, preempt});
      AnnouncePositions(placed - waiting_.begin());
    }
  }
  if (!refusal.ok()) run->Drop(refusal);
}

void RunQueue::Cancel(const QueuedRun& run, const absl::Status& reason) {
  std::shared_ptr<QueuedRun> dropped;
  std::shared_ptr<QueuedRun> cancelled;
  {
    absl::MutexLock lock(&mutex_);
    const auto it = std::find_if(
        waiting_.begin(), waiting_.end(),
        [&run](const auto& waiting) { return waiting.run.get() == &run; });
    if (it != waiting_.end()) {
      dropped = std::move(it->run);
      const auto next = waiting_.erase(it);
      AnnouncePositions(next - waiting_.begin());
    } else if (running_.get() == &run) {
      cancelled = running_;
    }
  }
  if (dropped != nullptr) dropped->Drop(reason);
  if (cancelled != nullptr) cancelled->Cancel(reason);
}

int RunQueue::waiting_count() const {
  absl::MutexLock lock(&mutex_);
  return waiting_.size();
}

void RunQueue::Close(const absl::Status& reason) {
  std::deque<WaitingRun> dropped;
  std::shared_ptr<QueuedRun> cancelled;
  {
    absl::MutexLock lock(&mutex_);
    if (!closed_) {
      closed_ = true;
      close_reason_ = reason;
      dropped.swap(waiting_);
      cancelled = running_;
    }
  }
  for (const WaitingRun& waiting : dropped) waiting.run->Drop(reason);
  if (cancelled != nullptr) cancelled->Cancel(reason);
}

bool RunQueue::AwaitIdle(absl::Duration timeout) const {
  absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithTimeout(absl::Condition(this, &RunQueue::IsIdle),
                                 timeout);
}

void RunQueue::Loop() {
  for (;;) {
    std::shared_ptr<QueuedRun> run;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &RunQueue::HasWork));
      if (closed_) return;
      run = std::move(waiting_.front().run);
      waiting_.pop_front();
      running_ = run;
      AnnouncePositions(0);
    }
    run->Run();
    {
      absl::MutexLock lock(&mutex_);
      running_ = nullptr;
    }
    run = nullptr;
    base::ReturnFreedMemory();
  }
}

void RunQueue::AnnouncePositions(int first) {
  const int running_count = running_ != nullptr ? 1 : 0;
  for (size_t i = first; i < waiting_.size(); ++i) {
    waiting_[i].run->OnQueuePosition(running_count + i);
  }
}

}  // namespace distbench::sequencer
