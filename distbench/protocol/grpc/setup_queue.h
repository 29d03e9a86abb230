// A gRPC completion queue for what a thread starts and waits for itself, before
// there is traffic: connecting, and shaking hands. A worker's is an EventQueue.

#ifndef DISTBENCH_PROTOCOL_GRPC_SETUP_QUEUE_H_
#define DISTBENCH_PROTOCOL_GRPC_SETUP_QUEUE_H_

#include <grpc/grpc.h>
#include <grpc/support/time.h>

#include "absl/time/time.h"

namespace distbench {

// How long it takes at most to notice that setting up was aborted: waiting is
// done in pieces of this length.
inline constexpr absl::Duration kAbortLatency = absl::Milliseconds(100);

// A point in time on gRPC's monotonic clock, which its waits go by: at most a
// year from now, so that it can be counted in nanoseconds. One that is past is
// now.
gpr_timespec MonotonicDeadline(absl::Time deadline);
gpr_timespec MonotonicDeadline(absl::Duration from_now);

// Not thread-safe.
class SetupQueue {
 public:
  SetupQueue() : queue_(grpc_completion_queue_create_for_next(nullptr)) {}

  // Waits for all that was started and is not complete.
  ~SetupQueue();

  SetupQueue(const SetupQueue&) = delete;
  SetupQueue& operator=(const SetupQueue&) = delete;

  // For starting operations, with tags that are not null.
  grpc_completion_queue* get() const { return queue_; }

  // Waits for the next completion and returns its tag; null if there is none
  // until the deadline.
  void* Next(gpr_timespec deadline = gpr_inf_future(GPR_CLOCK_MONOTONIC));

 private:
  grpc_completion_queue* const queue_;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_SETUP_QUEUE_H_
