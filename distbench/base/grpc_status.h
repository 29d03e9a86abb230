#ifndef DISTBENCH_BASE_GRPC_STATUS_H_
#define DISTBENCH_BASE_GRPC_STATUS_H_

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace distbench {

// Shortens an error message to what gRPC can carry. gRPC sends it
// percent-encoded in a header, and a peer accepts 8 KiB of headers by default;
// beyond that the call fails with an error that explains nothing. A message
// that is too long keeps the lines that fit, and says how many were left out.
std::string ShortenedMessage(absl::string_view message);

// The codes have the same numbers. ToGrpcStatus() shortens the message.
grpc::Status ToGrpcStatus(const absl::Status& status);
absl::Status ToAbslStatus(const grpc::Status& status);

}  // namespace distbench

#endif  // DISTBENCH_BASE_GRPC_STATUS_H_
