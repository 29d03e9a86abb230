#ifndef DISTBENCH_ENGINE_WORKER_WAIT_RUNNER_H_
#define DISTBENCH_ENGINE_WORKER_WAIT_RUNNER_H_

#include <cstdint>

#include "distbench/engine/activities/activities.h"
#include "distbench/engine/activities/wait_places.h"
#include "distbench/engine/worker/run_state.h"
#include "distbench/engine/worker/worker_context.h"

namespace distbench {

// Tells a worker, on any thread, that an iteration of it has been given a
// place, which is free since a monotonic time. WaitRunner::OnPlace() follows,
// on the worker's thread.
class PlacePoster {
 public:
  virtual ~PlacePoster() = default;
  virtual void PostPlace(Iteration& iteration, int64_t free_since_ns) = 0;
};

// Does the iterations of activities that wait, by timers. One per worker, used
// on its thread.
//
// A place that is handed on counts as free since its wait was due, not since a
// timer that came late: what a pool can do in a time follows from its waits
// alone.
class WaitRunner {
 public:
  WaitRunner(WorkerContext& context, Activities& activities,
             PlacePoster& poster)
      : context_(context), activities_(activities), poster_(poster) {}

  // Arms the iteration's timer; OnDue() follows.
  void Start(Iteration& iteration);

  void OnPlace(Iteration& iteration, int64_t free_since_ns);

  // The iteration's timer was due, or its traffic stops. Returns whether that
  // is the iteration's end; otherwise OnPlace() follows.
  bool OnDue(Iteration& iteration);

  // Iterations that seek a place.
  int64_t seeking() const { return seeking_; }

 private:
  void Begin(Iteration& iteration, int64_t free_since_ns);
  void FreePlace(WaitPlaces& places, int64_t free_since_ns);

  WorkerContext& context_;
  Activities& activities_;
  PlacePoster& poster_;
  int64_t seeking_ = 0;
};

}  // namespace distbench

#endif  // DISTBENCH_ENGINE_WORKER_WAIT_RUNNER_H_
