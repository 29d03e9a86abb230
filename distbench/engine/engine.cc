// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/engine.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "distbench/base/threads.h"
#include "distbench/base/timers.h"

namespace distbench::engine {
namespace {

// Otherwise workers do the work of activities themselves.
bool PoolsHaveThreads(const EngineOptions& options) {
  return options.start_threads || options.make_iteration_pool != nullptr;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> Engine::Create(
    EngineOptions options, std::unique_ptr<protocol::ProtocolDriver> driver) {
  std::unique_ptr<Engine> engine(
      new Engine(std::move(options), std::move(driver)));
  if (absl::Status listening = engine->Listen(); !listening.ok()) {
    return listening;
  }
  return engine;
}

Engine::Engine(EngineOptions options,
               std::unique_ptr<protocol::ProtocolDriver> driver)
    : options_(std::move(options)),
      state_(options_.plan, options_.instance, options_.worker_count,
             *options_.clock),
      driver_(std::move(driver)),
      activities_(state_,
                  {.seed = SeedOf(kNoWorker),
                   .default_threads =
                       PoolsHaveThreads(options_) ? options_.worker_count : 0,
                   .make_pool = options_.make_iteration_pool}),
      inbox_(*options_.plan, options_.instance) {}

uint64_t Engine::SeedOf(int worker) const {
  const uint64_t seed = options_.plan->seed;
  std::seed_seq sequence = {
      static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32),
      static_cast<uint32_t>(options_.instance), static_cast<uint32_t>(worker)};
  uint32_t words[2];
  sequence.generate(std::begin(words), std::end(words));
  return (uint64_t{words[0]} << 32) | words[1];
}

absl::Status Engine::Listen() {
  if (absl::Status started = activities_.started(); !started.ok()) {
    return started;
  }
  absl::StatusOr<std::string> address = driver_->Listen(options_.worker_count);
  if (!address.ok()) return address.status();
  address_ = *std::move(address);
  WorkerGroup& group = *this;
  for (int i = 0; i < options_.worker_count; ++i) {
    workers_.push_back(std::make_unique<Worker>(
        state_, i, driver_->transport(i),
        options_.sample_memory_bytes / options_.worker_count, SeedOf(i),
        group));
  }
  if (!options_.start_threads) return absl::OkStatus();
  absl::Status started = StartThreads();
  // A worker without a thread cannot be shut down in order.
  if (!started.ok()) EndThreads();
  return started;
}

absl::Status Engine::Connect(const std::vector<std::string>& addresses,
                             absl::Time deadline) {
  absl::Status connected =
      driver_->Connect(state_.routes().ConnectTo(addresses), deadline);
  if (!connected.ok()) return connected;
  return activities_.WaitUntilReady(deadline);
}

void Engine::Start(int64_t start_ns) {
  state_.SetTrafficStart(start_ns);
  for (const auto& worker : workers_) {
    if (worker->faults() != nullptr) worker->StartFaults(start_ns);
  }
  if (state_.service().main_list == config::kNone) {
    OnMainListFinished();
  } else {
    workers_[0]->StartMainList(start_ns);
  }
}

void Engine::Stop(StopScope scope, absl::string_view reason) {
  // Each call makes the workers visit everything that waits, so repeated
  // calls (from a thousand actions that end the traffic, for example) return
  // here.
  if (!state_.Stop(scope, reason)) return;
  if (scope == StopScope::kEverything) driver_->AbortConnect();
  for (const auto& worker : workers_) worker->OnStop();
  // Nobody needs it any more, and it might take minutes.
  if (scope == StopScope::kEverything) activities_.DropWaiting();
}

TrafficProgress Engine::progress() const {
  const int64_t now_ns = options_.clock->MonotonicNs();
  TrafficProgress sum;
  for (const auto& worker : workers_) {
    const WorkerProgress& progress = worker->progress();
    sum.set_succeeded_count(sum.succeeded_count() + progress.succeeded);
    sum.set_failed_count(sum.failed_count() + progress.failed);
    sum.set_in_flight_count(sum.in_flight_count() + progress.in_flight);
    sum.set_offered_count(sum.offered_count() + progress.offered +
                          progress.backlog);
    sum.set_open_loop_ended_count(sum.open_loop_ended_count() +
                                  progress.open_loop_ended);
  }
  const bool has_sent = sum.succeeded_count() > 0 || sum.failed_count() > 0 ||
                        sum.in_flight_count() > 0;
  // Handlers of early requests send before it is known when traffic starts.
  const int64_t start_ns = state_.traffic_start_ns();
  if (has_sent && start_ns != 0) sum.set_traffic_time_ns(now_ns - start_ns);
  return sum;
}

void Engine::TakeRecent(stats::SeriesByRpc& recent) {
  for (const auto& worker : workers_) {
    const auto parts = worker->TakeRecent();
    if (parts == nullptr) continue;
    for (const stats::RecentIntervals::Part& part : *parts) {
      recent[part.rpc].Add(part.step, part.interval);
    }
  }
}

// First refuses requests and cancels calls. The driver is shut down when
// nothing of them is left, while the workers still deliver its last events.
void Engine::Shutdown() {
  if (workers_.empty() || shut_down_) return;
  shut_down_ = true;
  error_message_ = state_.stop_reason();
  Stop(StopScope::kEverything, "the test is over");
  for (const auto& worker : workers_) worker->Drain();
  if (options_.start_threads) {
    for (const auto& worker : workers_) worker->WaitUntilDrained();
  } else {
    while (!AllDrained()) RunOnce();
  }
  // One of their threads may still be telling a worker that it is done.
  activities_.Shutdown();
  driver_->Shutdown();
  for (const auto& worker : workers_) worker->Quit();
  for (std::thread& thread : threads_) thread.join();
}

bool Engine::RunOnce() {
  bool did_something = false;
  for (const auto& worker : workers_) did_something |= worker->RunOnce();
  return did_something;
}

int64_t Engine::next_due_ns() const {
  int64_t next_ns = TimerQueue::kNever;
  for (const auto& worker : workers_) {
    next_ns = std::min(next_ns, worker->next_due_ns());
  }
  return next_ns;
}

void Engine::OnMainListFinished() {
  activities_.Release();
  options_.on_traffic_finished();
}

int64_t Engine::OnManyPendingRpcs() {
  const int64_t limit = options_.plan->max_pending_rpcs;
  // Only the first failure counts, and workers may call this for each RPC.
  if (failed_) return limit;
  const int64_t count = progress().in_flight_count();
  if (count > limit) {
    OnFailure(absl::ResourceExhaustedError(absl::StrCat(
        "Too many RPCs pending: ", count,
        ", but the test's overload_limits.max_pending_rpcs is ", limit,
        "; raise it, or have fewer in flight: send at a lower rate, or limit "
        "max_parallel_iterations")));
  }
  return std::max<int64_t>(0, limit - count);
}

void Engine::OnMuchPendingWork(const char* what, const char* remedy) {
  // As above.
  if (failed_) return;
  OnFailure(absl::ResourceExhaustedError(absl::StrCat(
      "Too many ", what, " on a worker: the test's overload_limits.",
      "max_pending_work (by default its max_pending_rpcs) is ",
      options_.plan->max_pending_work, "; raise it, or ", remedy)));
}

void Engine::StopOwnTraffic(const std::string& reason) {
  Stop(StopScope::kOwnTraffic, reason);
}

void Engine::OnFailure(const absl::Status& failure) {
  if (failed_.exchange(true)) return;
  Stop(StopScope::kEverything, failure.ToString());
  options_.on_overload(failure);
}

void Engine::WaitOutFreeze(int64_t until_ns) {
  if (options_.start_threads) state_.WaitUntil(until_ns);
}

absl::Status Engine::StartThreads() {
  for (const auto& worker : workers_) {
    auto thread = base::StartThread("workers", [&worker] {
      base::NameThread(base::kWorkerThread);
      base::DisableTimerSlack();
      worker->Run();
    });
    if (!thread.ok()) return thread.status();
    threads_.push_back(*std::move(thread));
  }
  return absl::OkStatus();
}

// Leaves no workers behind.
void Engine::EndThreads() {
  for (const auto& worker : workers_) worker->Quit();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  workers_.clear();
}

bool Engine::AllDrained() const {
  return std::all_of(workers_.begin(), workers_.end(),
                     [](const auto& worker) { return worker->drained(); });
}

}  // namespace distbench::engine
