// The messages with which a server proves that it knows the test's nonce, in
// protocols that call Traffic.Handshake (proto/data_plane.proto).

#ifndef DISTBENCH_PROTOCOL_HANDSHAKE_MESSAGES_H_
#define DISTBENCH_PROTOCOL_HANDSHAKE_MESSAGES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/protocol/driver_parts.h"

namespace distbench::protocol {

inline constexpr char kHandshakeMethod[] = "/distbench.Traffic/Handshake";

// Returns a serialised HandshakeRequest. The challenge is one of DrawNonce().
std::string HandshakeRequestWith(absl::string_view challenge);

// Returns the server's answer to a serialised HandshakeRequest, or an
// INVALID_ARGUMENT error.
absl::StatusOr<std::string> AnswerHandshake(absl::string_view nonce,
                                            absl::string_view request);

// Returns what is wrong with a server's answer to the challenge, or "".
std::string ProblemOfAnswer(absl::string_view nonce,
                            absl::string_view challenge,
                            absl::string_view answer);

// Returns the error that names the peers whose handshakes failed, if any.
absl::Status HandshakeStatus(const FailureList& failures);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_HANDSHAKE_MESSAGES_H_
