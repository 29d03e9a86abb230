// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The wire format of the tcp driver. All numbers are little-endian.
//
// Each side begins with a hello:
//
//   bytes 0..7    "distbtcp"
//   bytes 8..11   version of this format
//   bytes 12..15  zero
//
// The client's hello comes first, followed by a challenge C of 32 random bytes.
// The server answers with its hello, a challenge S and 32 bytes of proof: the
// HMAC-SHA-256 of "distbtcp server", C and S, keyed with the test's nonce. The
// client then sends its own proof, of "distbtcp client", C and S. Either side
// closes the connection if the other's proof is wrong. With TLS, the TLS
// handshake precedes all of this.
//
// Requests follow in one direction and replies in the other, one per frame:
//
//   bytes 0..3    size of the message
//   bytes 4..6    size of the message's head
//   byte  7       kind: 1 a request, 2 a reply, 3 a timed reply
//   bytes 8..15   id of the call; a reply has the id of its request
//   bytes 16..    the message
//
// In tests that measure time parts, all replies are timed; in others, none is.
// A timed reply has two durations in nanoseconds, 8 bytes each, before its
// message, and both sizes include them: how long the request waited in the
// server, and how long its handler took.
//
// The message is a serialised GenericRequestResponse (proto/data_plane.proto)
// whose payload is its last field. The head is the whole message except the
// payload's own bytes, so that a receiver need not look at those. Sizes of RPCs
// are sizes of messages; the 16 or 32 bytes before each message are not
// included.

#ifndef DISTBENCH_PROTOCOL_TCP_FRAME_H_
#define DISTBENCH_PROTOCOL_TCP_FRAME_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/tcp/stream_error.h"

namespace distbench::protocol {

inline constexpr uint32_t kTcpProtocolVersion = 2;
inline constexpr size_t kHelloBytes = 16;
inline constexpr size_t kFrameHeaderBytes = 16;
inline constexpr size_t kReplyTimesBytes = 16;

// payload/message_codec.h limits messages to kMaxMessageBytes.
inline constexpr uint32_t kMaxHeadBytes = 64 * 1024;

enum class FrameKind : uint8_t { kRequest = 1, kReply = 2, kTimedReply = 3 };

// The bytes of such a frame between its header and its message.
constexpr size_t TimesBytes(FrameKind kind) {
  return kind == FrameKind::kTimedReply ? kReplyTimesBytes : 0;
}

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

// Reads kFrameHeaderBytes. Any bytes are allowed.
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

// The times at the beginning of a timed reply, in nanoseconds.
struct ReplyTimes {
  int64_t queue_ns = 0;
  int64_t handler_ns = 0;
};

// Writes kReplyTimesBytes.
inline void EncodeReplyTimes(const ReplyTimes& times, char* out) {
  std::memcpy(out, &times.queue_ns, 8);
  std::memcpy(out + 8, &times.handler_ns, 8);
}

// Reads kReplyTimesBytes. Any bytes are allowed.
inline ReplyTimes DecodeReplyTimes(const char* bytes) {
  ReplyTimes times;
  std::memcpy(&times.queue_ns, bytes, 8);
  std::memcpy(&times.handler_ns, bytes + 8, 8);
  return times;
}

// Returns what is wrong with a header where frames of `expected` kind should
// be.
inline StreamError CheckFrameHeader(const FrameHeader& header,
                                    FrameKind expected) {
  if (header.kind != expected) return StreamError::kWrongFrameKind;
  if (header.message_bytes > payload::kMaxMessageBytes &&
      header.message_bytes - TimesBytes(expected) > payload::kMaxMessageBytes) {
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

// Returns what is wrong with the first bytes, at most kHelloBytes, of an
// expected hello. An incomplete hello is fine if it is right so far.
StreamError CheckHello(absl::string_view bytes);

// Finds the frames of one kind in a stream of bytes, however the stream is
// split into pieces. Payloads are skipped. If a frame is spread over several
// pieces, its header and its message's head are kept.
//
// Any input is safe. After an error the stream is lost; call Reset().
class FrameDecoder {
 public:
  explicit FrameDecoder(FrameKind kind) : kind_(kind) {}

  // Takes the next piece. For each frame that it completes, in order, calls
  //   StreamError on_frame(const FrameHeader& header, absl::string_view head)
  // and stops at the first error, which it returns. `head` is valid during the
  // call, which must not use this decoder.
  template <typename OnFrame>
  [[nodiscard]] StreamError Decode(absl::string_view bytes,
                                   const OnFrame& on_frame);

  // Bytes of the current payload that are still to be skipped.
  size_t payload_bytes_left() const { return payload_bytes_left_; }

  // Prepares for the beginning of another stream.
  void Reset() {
    kept_.clear();
    kept_is_complete_ = false;
    payload_bytes_left_ = 0;
  }

 private:
  // Takes from `bytes` what the kept frame still lacks.
  StreamError Continue(absl::string_view& bytes);
  void AppendKept(size_t count, absl::string_view& bytes);

  const FrameKind kind_;

  // The incomplete frame; kept_ is empty if there is none.
  std::string kept_;         // its header and its message's head, so far
  FrameHeader kept_header_;  // valid once kept_ has the whole header
  uint32_t payload_bytes_left_ = 0;
  bool kept_is_complete_ = false;
};

template <typename OnFrame>
StreamError FrameDecoder::Decode(absl::string_view bytes,
                                 const OnFrame& on_frame) {
  while (!bytes.empty()) {
    if (kept_.empty() && bytes.size() >= kFrameHeaderBytes) {
      const FrameHeader header = DecodeFrameHeader(bytes.data());
      StreamError error = CheckFrameHeader(header, kind_);
      if (error != StreamError::kNone) return error;
      const size_t frame_bytes = kFrameHeaderBytes + header.message_bytes;
      if (bytes.size() >= frame_bytes) {
        error = on_frame(header,
                         bytes.substr(kFrameHeaderBytes, header.head_bytes));
        if (error != StreamError::kNone) return error;
        bytes.remove_prefix(frame_bytes);
        continue;
      }
    }
    StreamError error = Continue(bytes);
    if (error != StreamError::kNone) return error;
    if (!kept_is_complete_) continue;
    error = on_frame(kept_header_,
                     absl::string_view(kept_).substr(kFrameHeaderBytes));
    if (error != StreamError::kNone) return error;
    kept_.clear();
    kept_is_complete_ = false;
  }
  return StreamError::kNone;
}

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_FRAME_H_
