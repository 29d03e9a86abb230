#include "distbench/protocol/tcp/fuzz_entry.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>

#include "distbench/payload/message_codec.h"
#include "distbench/protocol/tcp/frame_decoder.h"
#include "distbench/protocol/tcp/greeting.h"

namespace distbench {
namespace {

template <typename Header>
DecodedStream DecodeAs(FrameKind kind, absl::string_view bytes,
                       size_t piece_bytes) {
  DecodedStream result;
  FrameDecoder decoder(kind);
  std::string scratch;
  const auto on_frame = [&](const FrameHeader& frame, absl::string_view head) {
    Header header;
    if (!DecodeHead(head, frame.message_bytes - frame.head_bytes, header,
                    scratch)) {
      return StreamError::kMalformedMessage;
    }
    ++result.frames;
    return StreamError::kNone;
  };
  while (!bytes.empty() && result.error == StreamError::kNone) {
    const size_t taken = std::min(piece_bytes, bytes.size());
    // In memory of its own, so that sanitizers notice reads beyond it.
    const std::string piece(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    result.error = decoder.Decode(piece, on_frame);
  }
  return result;
}

// Of bytes that nobody who knows the nonce has made.
DecodedStream Greet(Greeting::Side side, absl::string_view bytes,
                    size_t piece_bytes) {
  DecodedStream result;
  Greeting greeting(side, "nonce");
  while (!bytes.empty() && greeting.missing_bytes() > 0 &&
         result.error == StreamError::kNone) {
    const size_t taken =
        std::min({piece_bytes, bytes.size(), greeting.missing_bytes()});
    const std::string piece(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    result.error = greeting.Receive(piece);
    greeting.TakeOutput();
  }
  result.greeted = greeting.missing_bytes() == 0 &&
                   result.error == StreamError::kNone;
  return result;
}

}  // namespace

DecodedStream DecodeStream(absl::string_view bytes, size_t piece_bytes) {
  if (bytes.empty()) return {};
  const bool requests = bytes.front() % 2 != 0;
  const bool greeting = (bytes.front() & kGreetingBit) != 0;
  bytes.remove_prefix(1);
  if (greeting) {
    return Greet(requests ? Greeting::Side::kServer : Greeting::Side::kClient,
                 bytes, piece_bytes);
  }
  return requests ? DecodeAs<RequestHeader>(FrameKind::kRequest, bytes,
                                            piece_bytes)
                  : DecodeAs<ResponseHeader>(FrameKind::kReply, bytes,
                                             piece_bytes);
}

void DecodeInPieces(absl::string_view bytes) {
  const DecodedStream whole = DecodeStream(bytes, bytes.size() + 1);
  // Nobody guesses a proof.
  if (whole.greeted) std::abort();
  for (size_t piece_bytes : {1, 7, 64}) {
    if (DecodeStream(bytes, piece_bytes) != whole) std::abort();
  }
}

}  // namespace distbench

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  distbench::DecodeInPieces(
      absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
