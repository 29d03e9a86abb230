// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Parts that drivers have in common.

#ifndef DISTBENCH_PROTOCOL_DRIVER_PARTS_H_
#define DISTBENCH_PROTOCOL_DRIVER_PARTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver.h"

namespace distbench::protocol {

// Returns a call's request header as sent on the wire. It refers to the call's
// trace context.
inline payload::RequestHeader HeaderOf(const ClientCall& call) {
  return {.rpc_index = call.rpc_index,
          .server_instance = call.server_instance,
          .warmup = call.warmup,
          .response_bytes = call.response_bytes,
          .processing_ns = call.processing_ns,
          .trace_context = call.trace_context};
}

// Takes over what a request's header asks for; the trace context stays where it
// is.
inline void TakeHeader(const payload::RequestHeader& header, ServerCall& call) {
  call.rpc_index = header.rpc_index;
  call.server_instance = header.server_instance;
  call.warmup = header.warmup;
  call.response_bytes = header.response_bytes;
  call.processing_ns = header.processing_ns;
  call.trace_context = header.trace_context;
}

// The failed peers with their reasons, such as "a (refused)".
class FailureList {
 public:
  // Adds a failure once: a peer may fail on each of its connections.
  void Add(std::string failure);

  bool empty() const { return failures_.empty(); }

  // Returns the first few failures and the number of others: "a (refused), b
  // (refused), c (no answer) and 7 more".
  std::string ToString() const;

 private:
  std::vector<std::string> failures_;
};

// Instances that expect TLS announce it in their addresses. A node uses TLS for
// all of its connections or for none. Returns the address as a driver's
// Listen() returns it.
std::string AnnounceTls(std::string address, bool uses_tls);

// Returns the peers at the addresses to dial. The error names a peer that uses
// TLS although this side does not, or the other way round, or whose Unix socket
// is on another host.
absl::StatusOr<std::vector<Peer>> PeersToDial(std::vector<Peer> peers,
                                              bool uses_tls);

// The messages with which both sides show that they know the test's nonce, in
// protocols that call Traffic.Handshake (proto/data_plane.proto).

inline constexpr char kHandshakeMethod[] = "/distbench.Traffic/Handshake";

// Returns a serialised HandshakeRequest. The challenge is one of
// security::DrawChallenge().
std::string HandshakeRequestWith(absl::string_view challenge);

// Returns the server's answer to a serialised HandshakeRequest, or an
// INVALID_ARGUMENT error.
absl::StatusOr<std::string> AnswerHandshake(absl::string_view nonce,
                                            absl::string_view request);

// Whether the client that sent a serialised HandshakeRequest knows the nonce.
// Clients of other programs do not, and are answered all the same.
bool KnowsNonce(absl::string_view nonce, absl::string_view request);

// Returns what is wrong with a server's answer to the challenge, or "".
std::string ProblemOfAnswer(absl::string_view nonce,
                            absl::string_view challenge,
                            absl::string_view answer);

// Returns the error that names the peers whose handshakes failed, if any.
absl::Status HandshakeStatus(const FailureList& failures);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_DRIVER_PARTS_H_
