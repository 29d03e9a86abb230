// Traffic.Handshake (data_plane.proto): before a client sends traffic, it
// verifies that the server takes part in the same test.

#ifndef DISTBENCH_PROTOCOL_GRPC_WIRE_HANDSHAKE_H_
#define DISTBENCH_PROTOCOL_GRPC_WIRE_HANDSHAKE_H_

#include <atomic>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "distbench/protocol/grpc/wire/channel.h"

namespace distbench::protocol {

// Verifies all channels concurrently, on the client. Each must be connected, to
// a single server. The error names the servers that do not know the nonce.
// Returns CANCELLED soon after `aborted` is set.
absl::Status VerifyPeers(absl::Span<const Channel* const> channels,
                         absl::string_view nonce, absl::Time deadline,
                         const std::atomic<bool>& aborted);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_WIRE_HANDSHAKE_H_
