// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PROTOCOL_TCP_TESTING_FUZZ_ENTRY_H_
#define DISTBENCH_PROTOCOL_TCP_TESTING_FUZZ_ENTRY_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "distbench/protocol/tcp/stream_error.h"

namespace distbench::protocol {

inline constexpr char kGreetingBit = 0x40;
inline constexpr char kTimesBit = 0x20;

// The outcome of decoding some bytes.
struct DecodedStream {
  int64_t frames = 0;
  bool greeted = false;
  StreamError error = StreamError::kNone;
  bool operator==(const DecodedStream&) const = default;
};

// Processes bytes as a connection does. The first byte says what they are: with
// kGreetingBit a greeting, otherwise frames of one kind, whose messages' heads
// are read. An odd first byte means data that a server receives; requests are
// then answered through a send queue, and the function aborts if an answer is
// not what was asked for. With kTimesBit, replies have the server's times,
// those that are decoded and those to requests. `piece_bytes` is the size of
// one read.
DecodedStream DecodeStream(absl::string_view bytes, size_t piece_bytes);

// The body of LLVMFuzzerTestOneInput(): decodes the bytes in one piece and in
// small pieces, and fails if the results differ.
void DecodeInPieces(absl::string_view bytes);

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_TESTING_FUZZ_ENTRY_H_
