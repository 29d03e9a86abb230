// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ENGINE_WORKER_RECEIVE_RUNNER_H_
#define DISTBENCH_ENGINE_WORKER_RECEIVE_RUNNER_H_

#include <cstdint>

#include "distbench/engine/worker/inbox.h"
#include "distbench/engine/worker/run_state.h"
#include "distbench/engine/worker/worker_context.h"

namespace distbench::engine {

class Worker;

// Runs the iterations of actions that receive requests. One per worker, used on
// its thread.
class ReceiveRunner {
 public:
  ReceiveRunner(WorkerContext& context, Inbox& inbox, Worker& worker)
      : context_(context), inbox_(inbox), worker_(worker) {}

  // Returns whether the iteration is over at once; otherwise OnReceived() or
  // OnStopped() follows.
  bool Start(Iteration& iteration);

  // The iteration has been given a request; it is over.
  void OnReceived(Iteration& iteration);

  // The traffic of a waiting iteration has stopped. Returns whether this ends
  // the iteration; otherwise OnReceived() follows.
  bool OnStopped(Iteration& iteration);

  // This worker has answered a request without an error.
  void OnAnswered(int rpc);

  // The number of iterations that wait.
  int64_t waiting() const { return waiting_; }

 private:
  WorkerContext& context_;
  Inbox& inbox_;
  Worker& worker_;
  int64_t waiting_ = 0;
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_WORKER_RECEIVE_RUNNER_H_
