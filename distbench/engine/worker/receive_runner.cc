// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/engine/worker/receive_runner.h"

#include "distbench/engine/worker/worker.h"

namespace distbench::engine {

bool ReceiveRunner::Start(Iteration& iteration) {
  Receiver& receiver = iteration.receiver;
  receiver.iteration = &iteration;
  receiver.runner = this;
  SetUpTimer(iteration.timer, Timer::Kind::kIterationReceive,
             *iteration.action->list, &iteration);
  iteration.timer.spin = false;
  if (inbox_.TryReceive(iteration.action->plan->target, receiver)) return true;
  ++waiting_;
  // Armed so that a stop finds it.
  context_.timers.Arm(iteration.timer, TimerQueue::kNever);
  return false;
}

void ReceiveRunner::OnReceived(Iteration& iteration) {
  --waiting_;
  context_.timers.Cancel(iteration.timer);
}

bool ReceiveRunner::OnStopped(Iteration& iteration) {
  if (!inbox_.StopWaiting(iteration.action->plan->target, iteration.receiver)) {
    return false;
  }
  --waiting_;
  return true;
}

void ReceiveRunner::OnAnswered(int rpc) {
  if (!inbox_.IsReceived(rpc)) return;
  Receiver* const receiver = inbox_.Add(rpc);
  if (receiver == nullptr) return;
  receiver->runner->worker_.PostReceived(*receiver->iteration, worker_);
}

}  // namespace distbench::engine
