// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Runs action lists: decides which actions start, when and how often, and what
// follows when they end. One per worker; an event-driven state machine that
// never waits.
//
// The life of an action: dependencies done ▸ (skipped, or) its delay ▸ its
// iterations, in closed or open loop ▸ done, which lets dependents start. A
// list is done when all its actions are.
//
// While the engine is stopping, nothing new starts: actions that have begun end
// once nothing of theirs is in flight; others are skipped.

#ifndef DISTBENCH_ENGINE_WORKER_SCHEDULER_H_
#define DISTBENCH_ENGINE_WORKER_SCHEDULER_H_

#include <cstdint>
#include <vector>

#include "absl/base/attributes.h"
#include "distbench/base/object_pool.h"
#include "distbench/config/plan/plan.h"
#include "distbench/engine/worker/run_state.h"
#include "distbench/engine/worker/worker_context.h"

namespace distbench::engine {

class Worker;

class Scheduler {
 public:
  // The worker does what follows from actions outside of lists.
  Scheduler(WorkerContext& context, Worker& worker);

  // Starts the instance's main list. start_ns is when it should have started,
  // at most the present.
  void StartMainList(int64_t start_ns);

  // Starts the handler of a request. The list must not be empty.
  void StartHandler(int list, protocol::ServerCall& request);

  // Starts this worker's share of an action of the main list.
  void StartShard(SharedAction& action, int shard);

  // All shards of an action of this scheduler's main list are done.
  void OnShardsFinished(const SharedAction& action);

  // All RPCs of an iteration are done.
  void FinishIteration(Iteration& iteration);

  // Called instead of FinishIteration() for an iteration that repeats: turns it
  // into the next iteration of its action, whose RPC the caller sends. Returns
  // false if the next one cannot start now; the caller then calls
  // FinishIteration(). So neither iteration nor call returns to its pool to be
  // filled in anew: with SendQueue::kBlockBytes, that raised the rate of small
  // messages over tcp from 0.70 to 0.78 of that of bench/bare_tcp.
  bool StartAgain(Iteration& iteration);

  // The timer of an action is due, or its traffic stops.
  void OnDelayOver(ActionRun& action);
  void OnPaceDue(ActionRun& action) { Advance(action); }

  // The number of handlers' lists that run, those that go on after their
  // answers included.
  int64_t handlers_in_progress() const { return handlers_in_progress_; }

  // Continues actions that gave up their turn. Returns whether some are left.
  bool RunReadyActions();
  bool has_ready_actions() const { return !ready_.empty(); }

 private:
  // Lists of actions.
  ListRun& NewList(int list, ListRun::Role role, bool own_traffic);
  void ResetActions(ListRun& list);
  void ResetSamples(ListRun& list);
  void KeepSamples(ListRun& list);
  void DrawPredicates(ListRun& list);
  void Start(ListRun& list);
  void Advance(ListRun& list);
  void Finish(ListRun& list);
  void StartNestedList(Iteration& iteration);
  bool IsStopped(const ListRun& list) const {
    return context_.engine.IsStopped(list.own_traffic);
  }
  void Consider(ActionRun& action);
  bool ConditionsHold(const ActionRun& action) const;
  void Delay(ActionRun& action);
  void Skip(ActionRun& action);
  void Finish(ActionRun& action);
  void ReleaseDependents(ActionRun& action);

  // What an open loop offered and did not send.
  void CountUnsent(ActionRun& action);
  void CountUnsent(ActionRun& action, int64_t intended_ns, int64_t until_ns,
                   int64_t count);
  void CountUnsentRpcs(const config::ActionPlan& action, int64_t intended_ns,
                       int64_t until_ns, int64_t iterations);
  bool ClaimNumbers(ActionRun& action, int64_t& count);
  bool ClaimRange(ActionRun& action, int64_t count);

  // Actions and their iterations.
  void StartAction(ActionRun& action, int64_t start_ns);
  int ShardCount(const ActionRun& action) const;
  void SetUpIterations(ActionRun& action, int shard, int shard_count);
  void Advance(ActionRun& action);
  bool MayStartIteration(ActionRun& action);
  bool MayStartClosedLoop(ActionRun& action);
  bool MayStartOpenLoop(ActionRun& action);
  bool CountUsedUp(const ActionRun& action) const;
  int64_t RangeSize(const ActionRun& action) const;
  bool ClaimNumber(ActionRun& action);
  void Count(ActionRun& action, Iteration& iteration);
  void Record(const Iteration& iteration);
  void Exhaust(ActionRun& action);
  void SetBacklog(ActionRun& action);
  void WaitUntil(ActionRun& action, int64_t due_ns);
  ABSL_ATTRIBUTE_ALWAYS_INLINE void StartIteration(ActionRun& action);
  // RPCs in flight are limited when they are sent. Work in progress without
  // RPCs (a handler that goes on after its answer, iterations that wait) takes
  // memory as well.
  void LimitInProgress(int64_t count, const char* what, const char* remedy);
  bool PauseIsOver(const ActionRun& action) const;
  bool PausesAfter(const Iteration& iteration) const;
  void Pause(ActionRun& action, int64_t backoff_ns);
  int64_t EndPause(ActionRun& action);
  void WaitForPause(ActionRun& action);

  WorkerContext& context_;
  Worker& worker_;
  base::ObjectPool<Iteration> iterations_;
  std::vector<base::ObjectPool<ListRun>> lists_;  // by Plan::lists
  std::vector<int64_t> invocations_;              // likewise
  int64_t handlers_in_progress_ = 0;
  std::vector<ActionRun*> ready_;
  int advancing_actions_ = 0;  // on the stack, nested in each other
  int iterations_in_turn_ = 0;
  std::vector<int> scratch_;
  ListRun* main_list_ = nullptr;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_WORKER_SCHEDULER_H_
