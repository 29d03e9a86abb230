#include "distbench/engine/engine.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "distbench/base/threads.h"
#include "distbench/base/timers.h"
#include "distbench/engine/activity_pools/activities.h"
#include "distbench/engine/collect.h"
#include "distbench/engine/recording/recorder.h"
#include "distbench/engine/routes/engine_state.h"
#include "distbench/engine/worker/worker.h"

namespace distbench::engine {
namespace {

// Random streams differ between instances and workers, and repeat for the same
// test seed.
uint64_t WorkerSeed(uint64_t seed, int instance, int worker) {
  std::seed_seq sequence = {
      static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32),
      static_cast<uint32_t>(instance), static_cast<uint32_t>(worker)};
  uint32_t words[2];
  sequence.generate(std::begin(words), std::end(words));
  return (uint64_t{words[0]} << 32) | words[1];
}

// Otherwise workers do the work of activities themselves.
bool PoolsHaveThreads(const EngineOptions& options) {
  return options.start_threads || options.make_iteration_pool != nullptr;
}

// The worker index for the seed of what all workers share, independent of their
// number.
constexpr int kNoWorker = -1;

}  // namespace

class Engine::Impl final : public WorkerGroup {
 public:
  Impl(EngineOptions options, std::unique_ptr<protocol::ProtocolDriver> driver)
      : options_(std::move(options)),
        state_(options_.plan, options_.instance, options_.worker_count,
               *options_.clock),
        driver_(std::move(driver)),
        activities_({.plan = options_.plan.get(),
                     .instance = options_.instance,
                     .seed = WorkerSeed(options_.plan->seed, options_.instance,
                                        kNoWorker),
                     .default_threads =
                         PoolsHaveThreads(options_) ? options_.worker_count : 0,
                     .clock = options_.clock,
                     .unix_offset_ns = state_.unix_offset_ns(),
                     .make_pool = options_.make_iteration_pool}) {}

  ~Impl() override { Shutdown(); }

  absl::Status Listen() {
    if (absl::Status started = activities_.started(); !started.ok()) {
      return started;
    }
    absl::StatusOr<std::string> address =
        driver_->Listen(options_.worker_count);
    if (!address.ok()) return address.status();
    address_ = *std::move(address);
    for (int i = 0; i < options_.worker_count; ++i) {
      workers_.push_back(std::make_unique<Worker>(
          state_, i, driver_->transport(i),
          options_.sample_memory_bytes / options_.worker_count,
          WorkerSeed(options_.plan->seed, options_.instance, i), *this));
    }
    if (!options_.start_threads) return absl::OkStatus();
    absl::Status started = StartThreads();
    // A worker without a thread cannot be shut down in order.
    if (!started.ok()) EndThreads();
    return started;
  }

  absl::Status Connect(const std::vector<std::string>& addresses,
                       absl::Time deadline) {
    absl::Status connected =
        driver_->Connect(state_.routes().ConnectTo(addresses), deadline);
    if (!connected.ok()) return connected;
    return activities_.WaitUntilReady(deadline);
  }

  void Start(int64_t start_ns) {
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

  void Stop(StopScope scope, absl::string_view reason) {
    // Each call makes the workers visit everything that waits, so repeated
    // calls (from a thousand actions that end the traffic, for example) return
    // here.
    if (!state_.Stop(scope, reason)) return;
    if (scope == StopScope::kEverything) driver_->AbortConnect();
    for (const auto& worker : workers_) worker->OnStop();
    // Nobody needs it any more, and it might take minutes.
    if (scope == StopScope::kEverything) activities_.DropWaiting();
  }

  EngineProgress progress() const {
    EngineProgress sum;
    sum.counted_ns = options_.clock->MonotonicNs();
    for (const auto& worker : workers_) {
      const WorkerProgress& progress = worker->progress();
      sum.succeeded_count += progress.succeeded;
      sum.failed_count += progress.failed;
      sum.in_flight_count += progress.in_flight;
      sum.offered_count += progress.offered + progress.backlog;
      sum.open_loop_ended_count += progress.open_loop_ended;
      sum.unsent_count += progress.unsent;
    }
    return sum;
  }

  void TakeRecent(stats::SeriesByRpc& recent) {
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
  void Shutdown() {
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

  bool RunOnce() {
    bool did_something = false;
    for (const auto& worker : workers_) did_something |= worker->RunOnce();
    return did_something;
  }

  int64_t next_due_ns() const {
    int64_t next_ns = TimerQueue::kNever;
    for (const auto& worker : workers_) {
      next_ns = std::min(next_ns, worker->next_due_ns());
    }
    return next_ns;
  }

  void Collect(absl::FunctionRef<void(ResultChunk chunk)> emit) {
    std::vector<Recorder*> recorders;
    for (const auto& worker : workers_) {
      recorders.push_back(&worker->recorder());
    }
    KeepSamplesOfMainList(recorders);
    EmitDriverCounters(emit);
    EmitNetworkReadings(emit);
    EmitTrafficStart(emit);
    CollectServerLog(state_, workers_, emit);
    CollectLog(
        state_, error_message_, activities_.Records(), activities_.recorder(),
        std::vector<const Recorder*>(recorders.begin(), recorders.end()), emit);
  }

  const std::string& address() const { return address_; }
  const std::vector<int>& peers() const { return state_.routes().peers(); }

  // WorkerGroup
  Worker& worker(int index) override { return *workers_[index]; }
  Activities& activities() override { return activities_; }

  void OnMainListFinished() override {
    activities_.Release();
    options_.on_traffic_finished();
  }

  void OnManyPendingRpcs() override {
    if (progress().in_flight_count <= options_.plan->max_pending_rpcs) return;
    OnOverload("Too many RPCs pending");
  }

  void OnTooMany(const char* what) override {
    OnOverload(absl::StrCat("Too many ", what));
  }

  void StopOwnTraffic(const std::string& reason) override {
    Stop(StopScope::kOwnTraffic, reason);
  }

  void OnFailure(const absl::Status& failure) override {
    if (failed_.exchange(true)) return;
    Stop(StopScope::kEverything, failure.ToString());
    options_.on_overload(failure);
  }

  void WaitOutFreeze(int64_t until_ns) override {
    if (options_.start_threads) state_.WaitUntil(until_ns);
  }

 private:
  absl::Status StartThreads() {
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
  void EndThreads() {
    for (const auto& worker : workers_) worker->Quit();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    workers_.clear();
  }

  void KeepSamplesOfMainList(absl::Span<Recorder* const> recorders) {
    const int list = state_.service().main_list;
    if (list == config::kNone) return;
    KeepOfMainList(
        options_.plan->lists[list].max_rpc_samples, recorders,
        WorkerSeed(options_.plan->seed, options_.instance, kNoWorker));
  }

  void EmitDriverCounters(absl::FunctionRef<void(ResultChunk chunk)> emit) {
    const std::vector<protocol::DriverCounter> counters = driver_->Counters();
    if (counters.empty()) return;
    ResultChunk chunk;
    chunk.set_instance(state_.instance_plan().name);
    for (const auto& [name, value] : counters) {
      (*chunk.mutable_instance_log()->mutable_driver_counters())[name] = value;
    }
    emit(std::move(chunk));
  }

  // Reports compare what was sent with what should have been, from then on.
  void EmitTrafficStart(absl::FunctionRef<void(ResultChunk chunk)> emit) {
    const int list = state_.service().main_list;
    if (list == config::kNone || state_.traffic_start_ns() == 0) return;
    const std::vector<config::ActionPlan>& actions =
        options_.plan->lists[list].actions;
    if (std::none_of(actions.begin(), actions.end(),
                     [](const config::ActionPlan& action) {
                       return action.iterations.composed_arrivals != nullptr;
                     })) {
      return;
    }
    ResultChunk chunk;
    chunk.set_instance(state_.instance_plan().name);
    chunk.mutable_instance_log()->set_traffic_start_timestamp_ns(
        state_.traffic_start_ns() + state_.unix_offset_ns());
    emit(std::move(chunk));
  }

  void EmitNetworkReadings(absl::FunctionRef<void(ResultChunk chunk)> emit) {
    ResultChunk chunk;
    chunk.set_instance(state_.instance_plan().name);
    for (const protocol::ConnectionReadings& readings :
         driver_->NetworkReadings()) {
      NetworkSettingProof& proof =
          *chunk.mutable_instance_log()->add_network_settings();
      proof.set_accepted(readings.accepted);
      proof.set_connection_count(readings.connection_count);
      for (const auto& [name, asked, found, is_as_asked] : readings.settings) {
        NetworkSettingReading& reading = *proof.add_settings();
        reading.set_name(name);
        reading.set_asked(asked);
        reading.set_found(found);
        if (!is_as_asked) reading.set_differs(true);
      }
    }
    if (chunk.has_instance_log()) emit(std::move(chunk));
  }

  void OnOverload(absl::string_view what) {
    OnFailure(absl::ResourceExhaustedError(what));
  }

  bool AllDrained() const {
    return std::all_of(workers_.begin(), workers_.end(),
                       [](const auto& worker) { return worker->drained(); });
  }

  const EngineOptions options_;
  EngineState state_;
  const std::unique_ptr<protocol::ProtocolDriver> driver_;
  Activities activities_;
  std::string address_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
  std::atomic<bool> failed_ = false;
  bool shut_down_ = false;
  std::string error_message_;  // why traffic ended early; else empty
};

absl::StatusOr<std::unique_ptr<Engine>> Engine::Create(
    EngineOptions options, std::unique_ptr<protocol::ProtocolDriver> driver) {
  auto impl = std::make_unique<Impl>(std::move(options), std::move(driver));
  if (absl::Status listening = impl->Listen(); !listening.ok()) {
    return listening;
  }
  return std::unique_ptr<Engine>(new Engine(std::move(impl)));
}

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Engine::~Engine() = default;

const std::string& Engine::address() const { return impl_->address(); }

const std::vector<int>& Engine::peers() const { return impl_->peers(); }

absl::Status Engine::Connect(const std::vector<std::string>& addresses,
                             absl::Time deadline) {
  return impl_->Connect(addresses, deadline);
}

void Engine::Start(int64_t start_ns) { impl_->Start(start_ns); }

void Engine::Stop(absl::string_view reason) {
  impl_->Stop(StopScope::kEverything, reason);
}

EngineProgress Engine::progress() const { return impl_->progress(); }

void Engine::TakeRecent(stats::SeriesByRpc& recent) {
  impl_->TakeRecent(recent);
}

void Engine::Shutdown() { impl_->Shutdown(); }

bool Engine::RunOnce() { return impl_->RunOnce(); }

int64_t Engine::next_due_ns() const { return impl_->next_due_ns(); }

EngineWorker Engine::worker(int index) {
  return EngineWorker(impl_->worker(index));
}

bool EngineWorker::RunOnce() { return worker_->RunOnce(); }

int64_t EngineWorker::next_due_ns() const { return worker_->next_due_ns(); }

bool EngineWorker::is_frozen() const { return worker_->is_frozen(); }

void Engine::Collect(absl::FunctionRef<void(ResultChunk chunk)> emit) {
  impl_->Collect(emit);
}

}  // namespace distbench::engine
