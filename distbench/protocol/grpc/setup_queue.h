// A gRPC completion queue for operations that a thread starts and waits for
// itself before there is traffic: connecting and handshakes. Workers use an
// EventQueue instead.

#ifndef DISTBENCH_PROTOCOL_GRPC_SETUP_QUEUE_H_
#define DISTBENCH_PROTOCOL_GRPC_SETUP_QUEUE_H_

#include <grpc/grpc.h>
#include <grpc/support/time.h>

#include "absl/time/time.h"

namespace distbench {

// The longest time until an aborted set-up is noticed. Waits are split into
// pieces of this length.
inline constexpr absl::Duration kAbortLatency = absl::Milliseconds(100);

// Converts to gRPC's monotonic clock, which its waits use. The result is at
// most a year from now, so that it fits nanoseconds, and not in the past.
gpr_timespec MonotonicDeadline(absl::Time deadline);
gpr_timespec MonotonicDeadline(absl::Duration from_now);

// Not thread-safe.
class SetupQueue {
 public:
  SetupQueue() : queue_(grpc_completion_queue_create_for_next(nullptr)) {}

  // Waits for all operations that were started and are not complete.
  ~SetupQueue();

  SetupQueue(const SetupQueue&) = delete;
  SetupQueue& operator=(const SetupQueue&) = delete;

  // For starting operations, with tags that are not null.
  grpc_completion_queue* get() const { return queue_; }

  // Waits for the next completion and returns its tag, or null if there is none
  // by the deadline.
  void* Next(gpr_timespec deadline = gpr_inf_future(GPR_CLOCK_MONOTONIC));

 private:
  grpc_completion_queue* const queue_;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_SETUP_QUEUE_H_
