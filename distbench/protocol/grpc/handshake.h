// Traffic.Handshake (data_plane.proto): a client makes sure that a server takes
// part in its test before it sends any traffic there.

#ifndef DISTBENCH_PROTOCOL_GRPC_HANDSHAKE_H_
#define DISTBENCH_PROTOCOL_GRPC_HANDSHAKE_H_

#include <atomic>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "distbench/protocol/grpc/channel.h"

namespace distbench {

inline constexpr char kHandshakeMethod[] = "/distbench.Traffic/Handshake";

// The server's part: what to answer to a serialised HandshakeRequest. The error
// is INVALID_ARGUMENT.
absl::StatusOr<std::string> AnswerHandshake(absl::string_view nonce,
                                            absl::string_view request);

// The client's part, for all channels at the same time. Each is connected, and
// to one server only. The error names servers that do not know the nonce. Gives
// up soon once `aborted` is set: CANCELLED.
absl::Status VerifyPeers(absl::Span<const Channel* const> channels,
                         absl::string_view nonce, absl::Time deadline,
                         const std::atomic<bool>& aborted);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_GRPC_HANDSHAKE_H_
