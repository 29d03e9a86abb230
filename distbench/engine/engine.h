// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// One service instance of a test: runs its main program and handles its RPCs.

#ifndef DISTBENCH_ENGINE_ENGINE_H_
#define DISTBENCH_ENGINE_ENGINE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "distbench/base/clock.h"
#include "distbench/config/plan/plan.h"
#include "distbench/engine/activity_pools/activities.h"
#include "distbench/engine/activity_pools/iteration_pool.h"
#include "distbench/engine/routes/engine_state.h"
#include "distbench/engine/worker/inbox.h"
#include "distbench/engine/worker/worker.h"
#include "distbench/protocol/driver.h"
#include "distbench/stats/interval_series.h"
#include "proto/control.pb.h"
#include "proto/results.pb.h"

namespace distbench::engine {

struct EngineOptions {
  std::shared_ptr<const config::Plan> plan;
  int instance = 0;  // index into plan->instances
  int worker_count = 1;
  const base::Clock* clock = &base::RealClock();

  // Budget for individual RPC samples. Beyond it, a reservoir chooses which to
  // keep.
  int64_t sample_memory_bytes = 64 << 20;

  // Called once, on a thread that runs a worker (the worker's own or one of the
  // driver's), when the main list has ended and none of its RPCs is in flight.
  // Never called without Start().
  std::function<void()> on_traffic_finished = [] {};

  // Called once, on such a thread too, if the engine stops itself because it
  // exceeds a limit of the test, or cannot do what the test demands. This ends
  // the test on all nodes.
  // on_traffic_finished still follows.
  std::function<void(absl::Status)> on_overload = [](absl::Status) {};

  // Without threads, the owner runs the engine by RunOnce(): for tests on a
  // fake clock, and for benchmarks.
  bool start_threads = true;

  // If set, makes the pools of activities that compute, whose iterations may
  // then take time without doing their work. Only without threads.
  IterationPoolMaker make_iteration_pool = nullptr;
};

// Life cycle: Create, Connect, Start, [Stop], on_traffic_finished, Shutdown,
// Collect. Shutdown and destruction are allowed at any point. One thread at a
// time may call methods, except for Stop() and progress(), which any thread may
// call.
class Engine final : private WorkerGroup {
 public:
  // Starts to listen and to handle requests.
  static absl::StatusOr<std::unique_ptr<Engine>> Create(
      EngineOptions options, std::unique_ptr<protocol::ProtocolDriver> driver);
  ~Engine() override { Shutdown(); }

  // The address that peers connect to.
  const std::string& address() const { return address_; }

  // Instances (indices into plan->instances) that this one may send RPCs to.
  const std::vector<int>& peers() const { return state_.routes().peers(); }

  // Connects to peers(). `addresses` is in the order of peers(); those of
  // servers outside of the test are the plan's instead.
  absl::Status Connect(const std::vector<std::string>& addresses,
                       absl::Time deadline);

  // Schedules the main list for a time of the monotonic clock, and returns. An
  // instance without a main list finishes at once.
  void Start(int64_t start_ns);

  // Ends traffic, or Connect(), early: no iteration starts any more, RPCs in
  // flight are cancelled, and requests are refused with "Traffic cancelled:
  // REASON". The first `reason` becomes the log's engine_error_message.
  void Stop(absl::string_view reason) { Stop(StopScope::kEverything, reason); }

  // Totals since Start() of the RPCs that this instance sent, without recent
  // latencies. RPCs of open loops are offered that were due by the last event.
  TrafficProgress progress() const;

  // Adds measurements of whole seconds that have passed since the last call.
  // Any thread, but one at a time.
  void TakeRecent(stats::SeriesByRpc& recent);

  // Stops handling requests and joins all threads.
  void Shutdown();

  // Without threads only. RunOnce() takes one turn of each worker without
  // waiting, and returns whether there was anything to do. next_due_ns() is the
  // monotonic time at which a worker next has something to do without an event.
  bool RunOnce();
  int64_t next_due_ns() const;

  // For callers that run single workers, until Shutdown().
  Worker& worker(int index) override { return *workers_[index]; }

  // Emits the instance's log in chunks of bounded size, with time stamps in
  // Unix time: first the instance's own part (errors, activities, counters of
  // the driver, why traffic ended early), then series of its activities and
  // RPCs, then what each worker has recorded, which results::MergeChunk() adds
  // up. Requires Shutdown().
  void Collect(absl::FunctionRef<void(ResultChunk chunk)> emit);

 private:
  Engine(EngineOptions options,
         std::unique_ptr<protocol::ProtocolDriver> driver);
  // Random streams differ between instances and workers, and repeat for the
  // same test seed. kNoWorker: of what all workers share, independent of their
  // number.
  static constexpr int kNoWorker = -1;
  uint64_t SeedOf(int worker) const;
  absl::Status Listen();
  absl::Status StartThreads();
  void EndThreads();
  void Stop(StopScope scope, absl::string_view reason);
  bool AllDrained() const;

  // WorkerGroup
  Activities& activities() override { return activities_; }
  Inbox& inbox() override { return inbox_; }
  void OnMainListFinished() override;
  int64_t OnManyPendingRpcs() override;
  void OnMuchPendingWork(const char* what, const char* remedy) override;
  void StopOwnTraffic(const std::string& reason) override;
  void OnFailure(const absl::Status& failure) override;
  void WaitOutFreeze(int64_t until_ns) override;

  const EngineOptions options_;
  EngineState state_;
  const std::unique_ptr<protocol::ProtocolDriver> driver_;
  Activities activities_;
  Inbox inbox_;
  std::string address_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
  std::atomic<bool> failed_ = false;
  bool shut_down_ = false;
  std::string error_message_;  // why traffic ended early; else empty
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_ENGINE_H_
