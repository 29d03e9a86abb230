#include "distbench/protocol/grpc/setup_queue.h"

#include <algorithm>

#include "absl/time/clock.h"

namespace distbench {

gpr_timespec MonotonicDeadline(absl::Time deadline) {
  return MonotonicDeadline(deadline - absl::Now());
}

gpr_timespec MonotonicDeadline(absl::Duration from_now) {
  const absl::Duration left =
      std::clamp(from_now, absl::ZeroDuration(), absl::Hours(24 * 365));
  return gpr_time_add(
      gpr_now(GPR_CLOCK_MONOTONIC),
      gpr_time_from_nanos(absl::ToInt64Nanoseconds(left), GPR_TIMESPAN));
}

SetupQueue::~SetupQueue() {
  grpc_completion_queue_shutdown(queue_);
  while (grpc_completion_queue_next(queue_, gpr_inf_future(GPR_CLOCK_MONOTONIC),
                                    nullptr)
             .type != GRPC_QUEUE_SHUTDOWN) {
  }
  grpc_completion_queue_destroy(queue_);
}

void* SetupQueue::Next(gpr_timespec deadline) {
  const grpc_event event =
      grpc_completion_queue_next(queue_, deadline, nullptr);
  return event.type == GRPC_OP_COMPLETE ? event.tag : nullptr;
}

}  // namespace distbench
