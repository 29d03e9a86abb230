// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The failures that a server has on purpose, as one worker sees them: which of
// them are in effect, and what they do.
//
//   Start ──▶ a timer at each begin and end ──▶ OnDue
//     errors and latencies: RequestHandler asks about each request that they
//       may affect
//     a freeze: the worker stands still (Worker::OnFaultDue())
//     a reset: the transport breaks its connections
//
// Each worker keeps time for itself; all workers of an instance have the same
// schedule, which follows from the start of the traffic. Errors and latencies
// that begin with the traffic hold from the first request on, however late the
// worker hears of the start.

#ifndef DISTBENCH_ENGINE_WORKER_FAULTS_H_
#define DISTBENCH_ENGINE_WORKER_FAULTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "distbench/config/plan/plan.h"
#include "distbench/engine/pacing/timer_queue.h"
#include "distbench/engine/worker/worker_context.h"
#include "proto/results.pb.h"

namespace distbench::engine {

class Faults {
 public:
  // Whether the plan has faults of the instance.
  static bool HasAny(const config::Plan& plan,
                     const config::InstancePlan& instance);

  explicit Faults(WorkerContext& context);

  // The traffic starts, or has started, at a monotonic time. Does nothing once
  // everything is stopped.
  void Start(int64_t traffic_start_ns);

  // When OnDue() is due next, or TimerQueue::kNever.
  int64_t next_due_ns() const {
    return timer_.armed() ? timer_.due_ns : TimerQueue::kNever;
  }

  // Handles the timer, of kind kFault. FAILED_PRECONDITION if the driver cannot
  // do what a fault demands.
  absl::Status OnDue();

  // Ends what is in effect.
  void Stop();

  // Until when the worker is to stand still; in the past if it is not.
  int64_t frozen_until_ns() const { return frozen_until_ns_; }

  // Whether errors or latencies are in effect for an RPC of the config; kNone:
  // for replayed ones.
  bool Affects(int rpc) const;

  // Decides about a request that has come. Returns the error to answer, which
  // is valid as long as the plan is; empty if there is none.
  absl::string_view DrawError(int rpc);

  // Decides about an answer that is ready. Returns how long it has to wait.
  int64_t DrawExtraLatency(int rpc);

  // Adds what all faults have done on this worker to a log without faults. Only
  // the first worker knows at which times.
  void AddTo(ServicePerformanceLog& log) const;

 private:
  struct State {
    const config::FaultPlan* plan = nullptr;
    // The period that has begun, or else the next one.
    int64_t begin_ns = TimerQueue::kNever;
    int64_t end_ns = TimerQueue::kNever;
    bool in_effect = false;
    // It begins with the traffic, and the worker has not looked at the time
    // since: requests may come before it does.
    bool awaits_first_request = false;
    FaultLog log;  // without times
    // Has room for all that are kept: faults begin while requests are measured.
    std::vector<FaultTime> times;
    FaultTime* time = nullptr;  // of the period, if that is kept
  };

  void SetPeriod(State& fault, int64_t begin_ns);
  void GoOn(State& fault);
  void StartFault(State& fault);
  void End(State& fault);
  absl::Status Break(State& fault);
  FaultTime* NewTime(State& fault) const;
  int64_t NowUnixNs() const;
  void ArmTimer();
  bool Concerns(const State& fault, config::FaultPlan::Kind kind,
                int rpc) const;
  bool Happens(State& fault);

  WorkerContext& context_;
  std::vector<State> faults_;
  int64_t frozen_until_ns_ = 0;
  Timer timer_;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_WORKER_FAULTS_H_
