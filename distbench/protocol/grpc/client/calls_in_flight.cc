#include "distbench/protocol/grpc/client/calls_in_flight.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace distbench::protocol {

gpr_timespec DeadlineOf(const ClientCall& call) {
  // gpr's monotonic clock is the system's monotonic clock.
  return call.deadline_ns == 0
             ? gpr_inf_future(GPR_CLOCK_MONOTONIC)
             : gpr_time_from_nanos(call.deadline_ns, GPR_CLOCK_MONOTONIC);
}

std::string ErrorOf(grpc_status_code code, absl::string_view message) {
  return absl::StrCat(
      absl::StatusCodeToString(static_cast<absl::StatusCode>(code)), ": ",
      message);
}

}  // namespace distbench::protocol
