// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/worker/wait_runner.h"

#include <algorithm>

#include "distbench/base/saturating_add.h"
#include "distbench/engine/worker/worker.h"

namespace distbench::engine {

void WaitRunner::Start(Iteration& iteration) {
  iteration.wait.requested_ns = context_.now_ns;
  SetUpTimer(iteration.timer, Timer::Kind::kIterationWait,
             *iteration.action->list, &iteration);
  iteration.timer.spin = false;  // a wait is no pace
  iteration.wait.seeks = false;
  WaitPlaces* const places = activities_.places(iteration.action->plan->target);
  PlaceSeeker& seeker = iteration.wait.seeker;
  seeker.iteration = &iteration;
  seeker.runner = this;
  if (places == nullptr || places->TryTakePlace(seeker)) {
    StartWait(iteration, context_.now_ns);
    return;
  }
  iteration.wait.seeks = true;
  ++seeking_;
  // Armed so that a stop finds it.
  context_.timers.Arm(iteration.timer, TimerQueue::kNever);
}

void WaitRunner::OnPlace(Iteration& iteration) {
  iteration.wait.seeks = false;
  --seeking_;
  context_.timers.Cancel(iteration.timer);
  StartWait(iteration, iteration.wait.seeker.free_since_ns);
}

void WaitRunner::StartWait(Iteration& iteration, int64_t free_since_ns) {
  Iteration::Wait& wait = iteration.wait;
  wait.started_ns = std::max(free_since_ns, wait.requested_ns);
  context_.timers.Arm(iteration.timer,
                      base::SaturatingAdd(wait.started_ns,
                                          activities_.NextWaitNs(
                                              iteration.action->plan->target)));
}

bool WaitRunner::OnDue(Iteration& iteration) {
  const int activity = iteration.action->plan->target;
  WaitPlaces* const places = activities_.places(activity);
  if (iteration.wait.seeks) {
    if (!places->StopWaiting(iteration.wait.seeker)) return false;
    --seeking_;
    return true;
  }
  // An iteration that a stop has cut short does not count as done.
  const int64_t due_ns = iteration.timer.due_ns;
  if (due_ns <= context_.now_ns) {
    activities_.AddWait(activity, iteration.wait.requested_ns,
                        iteration.wait.started_ns, context_.now_ns);
  }
  if (places != nullptr) {
    FreePlace(*places, std::min(due_ns, context_.now_ns));
  }
  return true;
}

void WaitRunner::FreePlace(WaitPlaces& places, int64_t free_since_ns) {
  PlaceSeeker* const next = places.Free();
  if (next == nullptr) return;
  next->free_since_ns = free_since_ns;
  if (next->runner == this) {
    OnPlace(*next->iteration);
  } else {
    next->runner->worker_.PostPlace(*next->iteration);
  }
}

}  // namespace distbench::engine
