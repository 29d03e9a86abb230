// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_ENGINE_WORKER_INBOX_H_
#define DISTBENCH_ENGINE_WORKER_INBOX_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "distbench/base/linked_queue.h"
#include "distbench/config/plan/plan.h"

namespace distbench::engine {

struct Iteration;
class ReceiveRunner;

// An iteration that wants a request. It is a member of the iteration and must
// not move while it is queued.
struct Receiver {
  Iteration* iteration = nullptr;
  ReceiveRunner* runner = nullptr;  // of the iteration's worker

  // Used by Inbox only.
  Receiver* previous = nullptr;
  Receiver* next = nullptr;
  bool queued = false;
};

// The requests that an instance has answered and that no action has received
// yet, and the iterations that wait for more. Of each RPC, both are served
// first come first served. Blocks nobody. Thread-safe.
class Inbox {
 public:
  // Of an instance: an index into plan.instances.
  Inbox(const config::Plan& plan, int instance);

  // Whether requests of the RPC are to be received at all. Any index.
  bool IsReceived(int rpc) const {
    return static_cast<size_t>(rpc) < boxes_.size() && boxes_[rpc] != nullptr;
  }

  // The others require that.

  // Returns true if the receiver has a request now, or no other instance will
  // ever send one; otherwise queues it.
  bool TryReceive(int rpc, Receiver& receiver);

  // Takes the receiver out of the queue. Returns false if it has been given a
  // request already.
  bool StopWaiting(int rpc, Receiver& receiver);

  // A request was answered. Returns the first receiver in the queue, which has
  // it now; null if the queue is empty.
  Receiver* Add(int rpc);

 private:
  struct Box {
    explicit Box(bool is_called) : is_called(is_called) {}

    const bool is_called;  // by another instance
    absl::Mutex mutex;
    int64_t answered ABSL_GUARDED_BY(mutex) = 0;  // and not received
    base::LinkedQueue<Receiver> queue ABSL_GUARDED_BY(mutex);
  };

  std::vector<std::unique_ptr<Box>> boxes_;  // by RPC; null: never received
};

}  // namespace distbench::engine

#endif  // DISTBENCH_ENGINE_WORKER_INBOX_H_
