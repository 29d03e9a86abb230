#include "distbench/protocol/grpc/calls_in_flight.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace distbench {

RequestHeader HeaderOf(const ClientCall& call) {
  return {.rpc_index = call.rpc_index,
          .server_instance = call.server_instance,
          .warmup = call.warmup,
          .response_bytes = call.response_bytes,
          .processing_ns = call.processing_ns,
          .trace_context = call.trace_context};
}

gpr_timespec DeadlineOf(const ClientCall& call) {
  // gpr's monotonic clock is the system's.
  return call.deadline_ns == 0
             ? gpr_inf_future(GPR_CLOCK_MONOTONIC)
             : gpr_time_from_nanos(call.deadline_ns, GPR_CLOCK_MONOTONIC);
}

std::string ErrorOf(grpc_status_code code, absl::string_view message) {
  return absl::StrCat(
      absl::StatusCodeToString(static_cast<absl::StatusCode>(code)), ": ",
      message);
}

}  // namespace distbench
