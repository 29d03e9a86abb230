#include "distbench/sequencer/run_queue.h"

#include <algorithm>
#include <utility>

namespace distbench {

RunQueue::RunQueue() : thread_([this] { Loop(); }) {}

RunQueue::~RunQueue() {
  Close(absl::CancelledError("the queue has ended"));
  thread_.join();
}

void RunQueue::Submit(std::shared_ptr<QueuedRun> run) {
  absl::Status refusal;
  {
    absl::MutexLock lock(&mutex_);
    if (closed_) {
      refusal = close_reason_;
    } else {
      const int ahead = waiting_.size() + (running_ != nullptr ? 1 : 0);
      if (ahead > 0) run->OnQueuePosition(ahead);
      waiting_.push_back(run);
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
        [&run](const auto& waiting) { return waiting.get() == &run; });
    if (it != waiting_.end()) {
      dropped = std::move(*it);
      waiting_.erase(it);
      AnnouncePositions();
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
  std::deque<std::shared_ptr<QueuedRun>> dropped;
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
  for (const auto& run : dropped) run->Drop(reason);
  if (cancelled != nullptr) cancelled->Cancel(reason);
}

void RunQueue::Loop() {
  for (;;) {
    std::shared_ptr<QueuedRun> run;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &RunQueue::HasWork));
      if (closed_) return;
      run = std::move(waiting_.front());
      waiting_.pop_front();
      running_ = run;
      AnnouncePositions();
    }
    run->Run();
    absl::MutexLock lock(&mutex_);
    running_ = nullptr;
  }
}

void RunQueue::AnnouncePositions() {
  int ahead = running_ != nullptr ? 1 : 0;
  for (const auto& run : waiting_) run->OnQueuePosition(ahead++);
}

}  // namespace distbench
