#ifndef DISTBENCH_BASE_GRPC_STATUS_H_
#define DISTBENCH_BASE_GRPC_STATUS_H_

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace distbench {

// What gRPC lets through: a message travels in a header, percent-encoded, and
// a peer takes 8 KiB of headers by default, or the call ends with an error that
// explains nothing. A message that is too long keeps the lines that fit, and
// says how many more there were.
std::string ShortenedMessage(absl::string_view message);

// The codes have the same numbers. The message is shortened.
grpc::Status ToGrpcStatus(const absl::Status& status);
absl::Status ToAbslStatus(const grpc::Status& status);

}  // namespace distbench

#endif  // DISTBENCH_BASE_GRPC_STATUS_H_
