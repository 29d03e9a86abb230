// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/hosts/simulated_pool.h"

#include <optional>
#include <utility>

namespace distbench::simulation {

struct SimulatedPool::Thread final : SimulatedThread {
  explicit Thread(SimulatedPool& of)
      : SimulatedThread(*of.host_.used_ns), pool(of) {}

  void OnCpuDone() override {
    if (running.has_value()) pool.OnOver(*this);
  }

  SimulatedPool& pool;
  std::optional<Request> running;  // nothing if it is free, or was abandoned
  int64_t started_ns = 0;
};

SimulatedPool::SimulatedPool(const engine::IterationPoolOptions& options,
                             PoolHost& host)
    : thread_count_(options.thread_count),
      clock_(*options.clock),
      recorder_(*options.recorder),
      host_(host),
      records_(options.plan->activities.size()) {
  for (engine::ActivityRecord& record : records_) record.is_simulated = true;
}

SimulatedPool::~SimulatedPool() = default;

void SimulatedPool::Submit(int activity, engine::Iteration& iteration,
                           engine::ActivityListener& listener) {
  if (dropping_) {
    listener.OnActivityDone(iteration);
    return;
  }
  const Request request = {activity, &iteration, &listener,
                           clock_.MonotonicNs()};
  if (Thread* const thread = FreeThread(); thread != nullptr) {
    Run(request, *thread);
  } else {
    waiting_.push_back(request);
  }
}

void SimulatedPool::Run(const Request& request, Thread& thread) {
  thread.running = request;
  thread.started_ns = clock_.MonotonicNs();
  const IterationCosts& costs = *(*host_.costs)[request.activity];
  host_.cpus->Submit(thread, costs.cpu_ns * costs.variation.Draw(host_.random));
}

// Returns null if all threads are busy.
SimulatedPool::Thread* SimulatedPool::FreeThread() {
  if (!free_.empty()) {
    Thread* const thread = free_.back();
    free_.pop_back();
    return thread;
  }
  if (static_cast<int>(threads_.size()) == thread_count_) return nullptr;
  threads_.push_back(std::make_unique<Thread>(*this));
  return threads_.back().get();
}

void SimulatedPool::OnOver(Thread& thread) {
  const Request done = *std::exchange(thread.running, std::nullopt);
  const int64_t now_ns = clock_.MonotonicNs();
  records_[done.activity].Add(done.requested_ns, thread.started_ns, now_ns);
  recorder_.CountDone(done.activity, now_ns, /*work=*/{});
  if (waiting_.empty()) {
    free_.push_back(&thread);
  } else {
    Run(waiting_.front(), thread);
    waiting_.pop_front();
  }
  done.listener->OnActivityDone(*done.iteration);
}

void SimulatedPool::DropWaiting() {
  for (const Request& request : Abandon()) {
    request.listener->OnActivityDone(*request.iteration);
  }
}

// Returns the requests that were running or waiting.
std::vector<SimulatedPool::Request> SimulatedPool::Abandon() {
  dropping_ = true;
  std::vector<Request> abandoned;
  for (const auto& thread : threads_) {
    if (!thread->running.has_value()) continue;
    abandoned.push_back(*std::exchange(thread->running, std::nullopt));
  }
  abandoned.insert(abandoned.end(), waiting_.begin(), waiting_.end());
  waiting_.clear();
  return abandoned;
}

void SimulatedPool::AddTo(std::vector<engine::ActivityRecord>& records) {
  for (size_t i = 0; i < records_.size(); ++i) {
    if (records_[i].iteration_count > 0) records[i].Merge(records_[i]);
  }
}

}  // namespace distbench::simulation
