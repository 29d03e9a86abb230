// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// A gRPC queue with a thread of its own, for workers that wait elsewhere.

#ifndef DISTBENCH_PRODUCTS_EXTERNAL_CALLS_POLLING_THREAD_H_
#define DISTBENCH_PRODUCTS_EXTERNAL_CALLS_POLLING_THREAD_H_

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "distbench/protocol/grpc/queue/event_queue.h"
#include "distbench/protocol/grpc/queue/wake_timer.h"

namespace distbench::external {

// Runs what completes on its queue, and brings the worker there. So times do
// not depend on what the worker waits for.
class PollingThread {
 public:
  // `wake` is called on the thread that has brought the worker something. For
  // the alarm, see EventQueue. Throws std::system_error if the thread cannot be
  // started.
  PollingThread(std::unique_ptr<protocol::WakeTimer::Alarm> alarm,
                std::function<void()> wake);

  // Requires Stop(), and that nothing is in flight on the queue.
  ~PollingThread();

  PollingThread(const PollingThread&) = delete;
  PollingThread& operator=(const PollingThread&) = delete;

  protocol::EventQueue& queue() { return queue_; }

  // Wakes the worker, now or when this thread has run what else is complete.
  // Any thread may call it.
  void WakeSoon();

  // The caller may poll the queue from now on.
  void Stop();

 private:
  void Run();

  protocol::EventQueue queue_;
  const std::function<void()> wake_;
  std::atomic<bool> stopped_ = false;
  bool wakes_at_once_ = false;  // the next event; of the thread
  bool owes_wake_ = false;      // to other events; of the thread
  std::thread thread_;
};

}  // namespace distbench::external

#endif  // DISTBENCH_PRODUCTS_EXTERNAL_CALLS_POLLING_THREAD_H_
