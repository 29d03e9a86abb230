// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ENGINE_ROUTES_ENGINE_STATE_H_
#define DISTBENCH_ENGINE_ROUTES_ENGINE_STATE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/clock.h"
#include "distbench/config/plan/plan.h"
#include "distbench/engine/routes/fanout.h"
#include "distbench/engine/routes/replay_table.h"
#include "distbench/engine/routes/routes.h"

namespace distbench::engine {

// The targets of an RPC of an instance.
struct RpcTargets {
  std::unique_ptr<Fanout> fanout;  // null if the instance is no client
  std::vector<int> routes;         // by candidate of the fanout
};

// How much of the instance's activity has been stopped.
enum class StopScope {
  kNothing,
  kOwnTraffic,  // its main list; requests are still handled
  kEverything,
};

// The state that the workers of one engine share. Except for the stop state, it
// does not change once traffic has started.
class EngineState {
 public:
  EngineState(std::shared_ptr<const config::Plan> plan, int instance,
              int worker_count, const base::Clock& clock);

  const config::Plan& plan() const { return *plan_; }
  int instance() const { return instance_; }
  const config::InstancePlan& instance_plan() const {
    return plan_->instances[instance_];
  }
  const config::ServicePlan& service() const {
    return plan_->services[instance_plan().service];
  }
  int worker_count() const { return worker_count_; }
  const base::Clock& clock() const { return clock_; }

  // The routes to the peers that this instance sends to.
  const Routes& routes() const { return routes_; }

  // Empty unless this instance's service is a client of the RPC.
  RpcTargets& targets(int rpc) { return targets_[rpc]; }

  // Requires a trace of the plan. The table is empty if this instance sends
  // nothing of it.
  const ReplayTable& replay_table(int trace) const {
    return replay_tables_[trace];
  }

  // The monotonic start time of the traffic; 0 until it is known.
  int64_t traffic_start_ns() const {
    return traffic_start_ns_.load(std::memory_order_relaxed);
  }
  void SetTrafficStart(int64_t start_ns) { traffic_start_ns_ = start_ns; }

  // Add this to monotonic time to get Unix time. Fixed for the test, so that a
  // step of the wall clock does not move its time stamps.
  int64_t unix_offset_ns() const { return unix_offset_ns_; }

  // Numbers the iterations of an action in the order in which they begin.
  // record: index into Plan::recorded_actions. Any thread.
  int64_t NextRecordedNumber(int record) {
    return recorded_numbers_[record].fetch_add(1, std::memory_order_relaxed);
  }

  // Stops traffic. The first reason is kept; a later call can only widen the
  // scope. Returns whether the scope was widened. Any thread.
  bool Stop(StopScope scope, absl::string_view reason);
  StopScope stop_scope() const {
    return stop_scope_.load(std::memory_order_relaxed);
  }
  // Whether the instance's own traffic is stopped, or everything.
  bool IsStopped(bool own_traffic) const {
    return stop_scope() >=
           (own_traffic ? StopScope::kOwnTraffic : StopScope::kEverything);
  }
  bool IsAllStopped() const { return IsStopped(/*own_traffic=*/false); }
  // The monotonic time at which that became so. Requires that it is.
  int64_t stopped_ns(bool own_traffic) const;
  // Waits until a monotonic time of the real clock, or until everything is
  // stopped. Any thread.
  void WaitUntil(int64_t time_ns) const;
  // Empty unless the engine is stopped.
  std::string stop_reason() const;
  // What clients are answered once everything is stopped.
  std::string stop_error() const;

 private:
  const std::shared_ptr<const config::Plan> plan_;
  const int instance_;
  const int worker_count_;
  const base::Clock& clock_;
  const int64_t unix_offset_ns_;
  Routes routes_;
  std::vector<RpcTargets> targets_;  // by RPC; empty where not a client
  std::vector<ReplayTable> replay_tables_;
  std::vector<std::atomic<int64_t>> recorded_numbers_;
  std::atomic<int64_t> traffic_start_ns_ = 0;

  std::atomic<StopScope> stop_scope_ = StopScope::kNothing;
  mutable absl::Mutex mutex_;
  std::string stop_reason_ ABSL_GUARDED_BY(mutex_);
  int64_t own_stopped_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t all_stopped_ns_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_ROUTES_ENGINE_STATE_H_
