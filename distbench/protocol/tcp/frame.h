// What the tcp driver's connections carry. All numbers are little-endian.
//
// Each side begins with a hello:
//
//   bytes 0..7    "distbtcp"
//   bytes 8..11   version of this format
//   bytes 12..15  zero
//
// The client's comes first, with a challenge C of 32 random bytes behind it.
// The server answers with its hello, a challenge S and 32 bytes of proof:
// HMAC-SHA-256 of "distbtcp server", C and S under the test's nonce. To that
// the client sends its own proof, of "distbtcp client", C and S. Either side
// closes the connection if the other one's proof is wrong. With TLS its
// handshake comes before all of this.
//
// Requests follow in one direction and replies in the other, each in a frame:
//
//   bytes 0..3    size of the message
//   bytes 4..6    size of the message's head
//   byte  7       kind: 1 a request, 2 a reply
//   bytes 8..15   id of the call; a reply has its request's
//   bytes 16..    the message
//
// The message is a serialised GenericRequestResponse (proto/data_plane.proto)
// whose payload is its last field. The head is all of it but the payload's own
// bytes, so that a receiver need not look at those. Sizes of RPCs are sizes of
// messages: the 16 bytes in front of each come on top.

#ifndef DISTBENCH_PROTOCOL_TCP_FRAME_H_
#define DISTBENCH_PROTOCOL_TCP_FRAME_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/tcp/stream_error.h"

namespace distbench {

inline constexpr uint32_t kTcpProtocolVersion = 2;
inline constexpr size_t kHelloBytes = 16;
inline constexpr size_t kFrameHeaderBytes = 16;

// Messages are limited by payload/message_codec.h's kMaxMessageBytes.
inline constexpr uint32_t kMaxHeadBytes = 64 * 1024;

enum class FrameKind : uint8_t { kRequest = 1, kReply = 2 };

struct FrameHeader {
  uint32_t message_bytes = 0;
  uint32_t head_bytes = 0;
  FrameKind kind = FrameKind::kRequest;
  uint64_t call_id = 0;
};

// Writes kFrameHeaderBytes.
inline void EncodeFrameHeader(const FrameHeader& header, char* out) {
  static_assert(std::endian::native == std::endian::little);
  const uint32_t head_and_kind =
      header.head_bytes | static_cast<uint32_t>(header.kind) << 24;
  std::memcpy(out, &header.message_bytes, 4);
  std::memcpy(out + 4, &head_and_kind, 4);
  std::memcpy(out + 8, &header.call_id, 8);
}

// Replaces the call_id of an encoded header.
inline void SetCallId(uint64_t call_id, char* frame) {
  std::memcpy(frame + 8, &call_id, 8);
}

// Reads kFrameHeaderBytes, which may be any.
inline FrameHeader DecodeFrameHeader(const char* bytes) {
  FrameHeader header;
  uint32_t head_and_kind;
  std::memcpy(&header.message_bytes, bytes, 4);
  std::memcpy(&head_and_kind, bytes + 4, 4);
  std::memcpy(&header.call_id, bytes + 8, 8);
  header.head_bytes = head_and_kind & 0xffffff;
  header.kind = static_cast<FrameKind>(head_and_kind >> 24);
  return header;
}

// What is wrong with a header where frames of one kind are expected.
inline StreamError CheckFrameHeader(const FrameHeader& header,
                                    FrameKind expected) {
  if (header.kind != expected) return StreamError::kWrongFrameKind;
  if (header.message_bytes > kMaxMessageBytes) {
    return StreamError::kOversizedMessage;
  }
  if (header.head_bytes > kMaxHeadBytes) return StreamError::kOversizedHead;
  if (header.head_bytes > header.message_bytes) {
    return StreamError::kHeadBeyondMessage;
  }
  return StreamError::kNone;
}

// Writes kHelloBytes.
void EncodeHello(char* out);

// What is wrong with the first bytes, at most kHelloBytes, of what should be a
// hello. Fewer are fine as far as they go.
StreamError CheckHello(absl::string_view bytes);

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_FRAME_H_
