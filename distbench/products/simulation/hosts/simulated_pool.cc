// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/simulation/hosts/simulated_pool.h"

#include <utility>

namespace distbench::simulation {

// With the iteration that it runs.
class SimulatedPool::Thread final : private SimulatedThread {
 public:
  explicit Thread(SimulatedPool& pool)
      : SimulatedThread(*pool.host_.used_ns), pool_(pool) {}

  void Run(const Request& request, int64_t now_ns) {
    request_ = request;
    started_ns_ = now_ns;
    is_running_ = true;
    PoolHost& host = pool_.host_;
    const IterationCosts& costs = *(*host.costs)[request.activity];
    host.cpus->Submit(*this, costs.cpu_ns * costs.variation.Draw(host.random));
  }

  // Its end is then ignored.
  void Abandon() { is_running_ = false; }

  bool is_running() const { return is_running_; }
  const Request& request() const { return request_; }
  int64_t started_ns() const { return started_ns_; }

 private:
  void OnCpuDone() override {
    if (std::exchange(is_running_, false)) pool_.OnOver(*this);
  }

  SimulatedPool& pool_;
  Request request_ = {};
  int64_t started_ns_ = 0;
  bool is_running_ = false;
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
  const int64_t now_ns = clock_.MonotonicNs();
  const Request request = {activity, &iteration, &listener, now_ns};
  if (Thread* const thread = FreeThread(); thread != nullptr) {
    thread->Run(request, now_ns);
  } else {
    waiting_.push_back(request);
  }
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
  const Request done = thread.request();
  const int64_t now_ns = clock_.MonotonicNs();
  records_[done.activity].Add(done.requested_ns, thread.started_ns(), now_ns);
  recorder_.CountDone(done.activity, now_ns, /*work=*/{});
  if (waiting_.empty()) {
    free_.push_back(&thread);
  } else {
    const Request next = waiting_.front();
    waiting_.pop_front();
    thread.Run(next, now_ns);
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
    if (thread->is_running()) abandoned.push_back(thread->request());
    thread->Abandon();
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
