// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Replays RPC traces.
//
// An iteration of a replay action is one execution of the trace: this instance
// sends each of its records once. The flow:
//
//   Scheduler ▸ Start(iteration)
//     records after the trace's or traffic's start ── in order of time, one
//       timer for each of the two kinds ──┐
//     records after prior records ── once   ├─▶ Send ▸ RpcSender ▸ transport
//       all of these have started (ended) ──┘     │
//          ▲ start followers ◀──── handed over ───┤
//          └ end followers ◀────── OnDone ────────┘
//     all records done ▸ Scheduler::FinishIteration(iteration)
//
// Times: a record is due at its offset after its base: the start of this
// execution (in an open loop, the iteration's intended start), the start of the
// traffic, or the latest start or end of its prior records. It is never
// intended to be sent before its execution starts, so that a second iteration
// does not count as late what the first one has already sent. An RPC starts
// when it is handed to the transport and ends with its answer or failure. A
// failed record releases its followers like any other.
//
// When the traffic that a replay belongs to stops, unsent records are dropped
// together with their followers, and those in flight end as all RPCs do.
//
// On the wire a replayed RPC has the index of its trace, which follows the
// indices of the config's RPCs. It is counted and sampled under that index.

#ifndef DISTBENCH_ENGINE_WORKER_REPLAY_RUNNER_H_
#define DISTBENCH_ENGINE_WORKER_REPLAY_RUNNER_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "distbench/base/object_pool.h"
#include "distbench/engine/routes/replay_table.h"
#include "distbench/engine/worker/rpc_sender.h"
#include "distbench/engine/worker/run_state.h"
#include "distbench/engine/worker/scheduler.h"
#include "distbench/engine/worker/worker_context.h"

namespace distbench::engine {

// Records that are due at fixed times.
struct ReplaySchedule {
  ReplayRun* run = nullptr;
  const std::vector<int>* positions = nullptr;  // the earliest first
  size_t next = 0;
  int64_t base_ns = 0;
  Timer timer;
};

// A record that waits for other records, then for its due time.
struct WaitingRecord {
  ReplayRun* run = nullptr;
  int position = 0;
  int remaining_priors = 0;
  int64_t base_ns = 0;
  Timer timer;
};

// One execution of a trace.
struct ReplayRun {
  Iteration* iteration = nullptr;
  const ReplayTable* table = nullptr;
  int rpc_index = 0;
  int64_t execution = 0;  // unique within the worker
  int64_t start_ns = 0;
  ReplaySchedule schedules[2];
  std::vector<WaitingRecord> waiting;
};

// The replays of one worker. Allocates only for the first executions, and when
// more run at the same time than ever before.
class ReplayRunner {
 public:
  ReplayRunner(WorkerContext& context, RpcSender& sender, Scheduler& scheduler);

  // Starts an iteration of a replay action. It ends through the scheduler,
  // perhaps before this returns.
  void Start(Iteration& iteration);

  // Handles the end of a replayed RPC.
  void OnDone(protocol::ClientCall& call);

  // Handles a timer of kind kReplaySchedule or kReplayRecord that is due, or
  // whose traffic stops.
  void OnDue(Timer& timer);

 private:
  void SetUp(ReplayRun& run, int trace, Iteration& iteration);
  void SetUp(ReplayRun& run, ReplaySchedule& schedule,
             const std::vector<int>& positions, int64_t base_ns);
  void Advance(ReplayRun& run, ReplaySchedule& schedule);
  void Release(ReplayRun& run, const std::vector<int>& followers,
               int64_t time_ns);
  void SendReady(ReplayRun& run);
  void Send(ReplayRun& run, int position, int64_t due_ns);
  void Drop(ReplayRun& run, int position);
  void FinishIfDone(ReplayRun& run);
  bool IsStopped(const ReplayRun& run) const {
    return context_.engine.IsStopped(run.iteration->action->list->own_traffic);
  }

  WorkerContext& context_;
  RpcSender& sender_;
  Scheduler& scheduler_;
  const int rpc_count_;  // RPCs of the config
  int64_t executions_ = 0;
  base::ObjectPool<ReplayRun> runs_;

  // Records of the current run that can be sent now: position and due time.
  std::vector<std::pair<int, int64_t>> ready_;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_WORKER_REPLAY_RUNNER_H_
