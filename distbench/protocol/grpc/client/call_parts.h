// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What calls have in common, whatever carries them.

#ifndef DISTBENCH_PROTOCOL_GRPC_CLIENT_CALL_PARTS_H_
#define DISTBENCH_PROTOCOL_GRPC_CLIENT_CALL_PARTS_H_

#include <grpc/status.h>
#include <grpc/support/time.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/grpc/wire/channel.h"

namespace distbench::protocol {

inline gpr_timespec DeadlineOf(const ClientCall& call) {
  return call.deadline_ns == 0 ? gpr_inf_future(GPR_CLOCK_MONOTONIC)
                               : ToGrpcClock(call.deadline_ns);
}

// Returns an error in the form of ClientCall::error.
inline std::string ErrorOf(grpc_status_code code, absl::string_view message) {
  return absl::StrCat(
      absl::StatusCodeToString(static_cast<absl::StatusCode>(code)), ": ",
      message);
}

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_CLIENT_CALL_PARTS_H_
