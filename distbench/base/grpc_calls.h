// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What all gRPC calls between the processes of distbench have in common.

#ifndef DISTBENCH_BASE_GRPC_CALLS_H_
#define DISTBENCH_BASE_GRPC_CALLS_H_

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace distbench::base {

// Shortens an error message to what gRPC can carry. gRPC sends it
// percent-encoded in a header, and a peer accepts 8 KiB of headers by default;
// beyond that the call fails with an error that explains nothing. A message
// that is too long keeps the lines that fit, and says how many were left out.
std::string ShortenedMessage(absl::string_view message);

// The codes have the same numbers. ToGrpcStatus() shortens the message.
grpc::Status ToGrpcStatus(const absl::Status& status);
absl::Status ToAbslStatus(const grpc::Status& status);

// What to say of a server that does not know the calls of a test sequencer;
// `server` is its address.
std::string NoSuchCalls(absl::string_view server);

// The largest message that the sequencer accepts: room for very large tests,
// but not for a message that would use up its memory.
inline constexpr int kMaxMessageToSequencerBytes = 256 << 20;

}  // namespace distbench::base

#endif  // DISTBENCH_BASE_GRPC_CALLS_H_
