// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Parts that drivers have in common.

#ifndef DISTBENCH_PROTOCOL_DRIVER_PARTS_H_
#define DISTBENCH_PROTOCOL_DRIVER_PARTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
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

// Returns a reply's header without the server's times. It refers to the error,
// which is cut.
inline payload::ResponseHeader HeaderOf(const ServerCall& call,
                                        size_t max_error_bytes) {
  return {.server_instance = call.reply_instance,
          .error_message = call.reply_error.substr(0, max_error_bytes)};
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

// Keeps the trace context of a request whose bytes are gone at the next read.
inline void KeepTrace(std::string& memory, ServerCall& call) {
  if (!call.trace_context.empty()) [[unlikely]] {
    memory = std::string(call.trace_context);
    call.trace_context = memory;
  }
}

// Takes over what a reply's header says, but for the server's times.
inline void TakeHeader(const payload::ResponseHeader& header,
                       ClientCall& call) {
  call.responding_instance = header.server_instance;
  call.error = header.error_message;
}

// Returns the first usable one of `items`, beginning with the one whose turn it
// is; if none is usable, returns that one. Calls `pass_over` for each item that
// it skips.
template <typename Items, typename IsUsable, typename PassOver>
auto& TakeTurn(Items& items, size_t& next, const IsUsable& is_usable,
               const PassOver& pass_over) {
  const size_t count = items.size();
  const size_t first = next;
  next = first + 1 < count ? first + 1 : 0;
  for (size_t i = first; i < first + count; ++i) {
    auto& item = items[i < count ? i : i - count];
    if (is_usable(item)) return item;
    pass_over(item);
  }
  return items[first];
}

// How long a client waits until it tries again to reach a server: a millisecond
// at first, then twice as long each time, up to kLongestNs, until the server
// has shown that it works.
class RetryDelay {
 public:
  static constexpr int64_t kFirstNs = 1'000'000;
  static constexpr int64_t kLongestNs = 256'000'000;

  // A connection has broken, or an attempt has failed. Returns the time of the
  // next one.
  int64_t After(int64_t now_ns) {
    const int64_t due_ns = now_ns + delay_ns_;
    delay_ns_ = std::min(2 * delay_ns_, kLongestNs);
    return due_ns;
  }

  void Reset() { delay_ns_ = kFirstNs; }

 private:
  int64_t delay_ns_ = kFirstNs;
};

// The error of calls whose connection to a server was lost, and of those that
// have waited for one that could not be made.
std::string LossError(absl::string_view server, absl::string_view reason);
std::string DialError(absl::string_view server, bool was_connected,
                      absl::string_view reason);

// Adds those of `all` that are not zero.
void AddCounters(std::initializer_list<DriverCounter> all,
                 std::vector<DriverCounter>& counters);

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
