// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ENGINE_WORKER_WAIT_RUNNER_H_
#define DISTBENCH_ENGINE_WORKER_WAIT_RUNNER_H_

#include <cstdint>

#include "distbench/engine/activity_pools/activities.h"
#include "distbench/engine/worker/run_state.h"
#include "distbench/engine/worker/worker_context.h"

namespace distbench::engine {

class Worker;

// Runs the iterations of activities that wait, by timers. One per worker, used
// on its thread.
//
// A place that is handed on counts as free since its wait was due, not since a
// timer fired late: the throughput of a pool then depends on its waits alone.
class WaitRunner {
 public:
  WaitRunner(WorkerContext& context, Activities& activities, Worker& worker)
      : context_(context), activities_(activities), worker_(worker) {}

  // Arms the iteration's timer; OnDue() follows.
  void Start(Iteration& iteration);

  // The iteration has been given a place.
  void OnPlace(Iteration& iteration);

  // Handles the iteration's timer, which is due or whose traffic stops. Returns
  // whether this ends the iteration; otherwise OnPlace() follows.
  bool OnDue(Iteration& iteration);

  // The number of iterations that wait for a place.
  int64_t seeking() const { return seeking_; }

 private:
  void StartWait(Iteration& iteration, int64_t free_since_ns);
  void FreePlace(WaitPlaces& places, int64_t free_since_ns);

  WorkerContext& context_;
  Activities& activities_;
  Worker& worker_;
  int64_t seeking_ = 0;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_WORKER_WAIT_RUNNER_H_
