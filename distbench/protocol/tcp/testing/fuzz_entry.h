#ifndef DISTBENCH_PROTOCOL_TCP_TESTING_FUZZ_ENTRY_H_
#define DISTBENCH_PROTOCOL_TCP_TESTING_FUZZ_ENTRY_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "distbench/protocol/tcp/stream_error.h"

namespace distbench {

inline constexpr char kGreetingBit = 0x40;

// What became of some bytes.
struct DecodedStream {
  int64_t frames = 0;
  bool greeted = false;
  StreamError error = StreamError::kNone;
  bool operator==(const DecodedStream&) const = default;
};

// Takes bytes all the way that a connection's go. The first byte tells what
// they are: with kGreetingBit a greeting; else frames of one kind, which are
// found, and the heads of whose messages are read. It is odd for what a server
// receives: requests are then answered through a send queue, and it aborts if
// the answer is not what was asked for. `piece_bytes`: what one read brings.
DecodedStream DecodeStream(absl::string_view bytes, size_t piece_bytes);

// The body of LLVMFuzzerTestOneInput(): decodes the bytes in one piece and in
// small ones, and fails if that makes a difference.
void DecodeInPieces(absl::string_view bytes);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_TESTING_FUZZ_ENTRY_H_
