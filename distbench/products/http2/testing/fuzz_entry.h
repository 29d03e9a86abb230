// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What peers of the http2 driver may send, for fuzzing.

#ifndef DISTBENCH_PRODUCTS_HTTP2_TESTING_FUZZ_ENTRY_H_
#define DISTBENCH_PRODUCTS_HTTP2_TESTING_FUZZ_ENTRY_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace distbench::http2 {

// What the bytes after an input's first byte are: one message with its prefix,
// or all that a client or a server sends on a connection. Other first bytes
// stand for one of these as well.
inline constexpr char kHttp2Message = 0;
inline constexpr char kHttp2FromClient = 1;
inline constexpr char kHttp2FromServer = 2;

struct Http2Outcome {
  int64_t messages = 0;   // that could be decoded
  int64_t exchanges = 0;  // of which everything has arrived
  bool is_valid = true;   // whether the peer kept to the protocol so far
  bool operator==(const Http2Outcome&) const = default;
};

// Processes an input as the driver does, in reads of `piece_bytes`. A server
// answers each request, with the size that it asks for or with a status. A
// client has a handshake and two RPCs in flight. Aborts if the session breaks
// its contract.
Http2Outcome ReceiveHttp2(absl::string_view input, size_t piece_bytes);

// The body of LLVMFuzzerTestOneInput(): in one piece and in small pieces, which
// must not matter to messages.
void FuzzHttp2(absl::string_view input);

}  // namespace distbench::http2

#endif  // DISTBENCH_PRODUCTS_HTTP2_TESTING_FUZZ_ENTRY_H_
