// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// Encodes and decodes the messages of data RPCs (GenericRequestResponse in
// proto/data_plane.proto) by hand. A message consists of a head, which is
// written into the caller's memory, and payload bytes, which follow it and are
// referenced, never copied (see payload_slab.h). Decoding reads the head and
// skips the payload.
//
// Sizes are those of whole serialised messages, exact to the byte. A payload of
// n bytes takes n plus the size of its length, so some sizes have no minimal
// encoding. In that case a number is encoded with one byte more than it needs,
// which every protobuf parser accepts.
//
// All functions are thread-safe and do not allocate, except when a decoder has
// to join a string that is spread over several slices.

#ifndef DISTBENCH_PAYLOAD_MESSAGE_CODEC_H_
#define DISTBENCH_PAYLOAD_MESSAGE_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace distbench::payload {

// protobuf does not parse larger messages. Larger targets are reduced to this
// size.
inline constexpr int64_t kMaxMessageBytes = (int64_t{1} << 31) - 64;

struct RequestHeader {
  // Value of response_bytes if the server decides.
  static constexpr int64_t kNoResponseBytes = -1;
  // Value of server_instance if any server may answer; it is not sent.
  static constexpr int32_t kAnyInstance = -1;

  int32_t rpc_index = 0;        // not negative
  int32_t server_instance = 0;  // not negative, or kAnyInstance
  bool warmup = false;
  int64_t response_bytes = kNoResponseBytes;
  int64_t processing_ns = 0;             // 0: not sent
  absl::string_view trace_context = {};  // serialised; empty: not sent
};

struct ResponseHeader {
  // Value of server_instance if a decoded response does not contain it.
  static constexpr int32_t kNoInstance = -1;

  // Value of the times if they are not sent.
  static constexpr int64_t kNoTime = -1;

  int32_t server_instance = 0;           // not negative when encoded
  absl::string_view error_message = {};  // empty: not sent

  // How long the request waited in the server and how long its handler took.
  // They take up to 26 bytes; decoded ones may have any value.
  int64_t queue_ns = kNoTime;
  int64_t handler_ns = kNoTime;
};

// How a message with a given header and size is encoded.
struct MessageLayout {
  // The number of bytes that WriteHead() writes; payload_bytes of payload
  // follow.
  size_t head_bytes = 0;
  int64_t payload_bytes = 0;

  // The encoded size of the number that a spare byte may widen (rpc_index in
  // requests, server_instance in responses), and of the payload's length. A
  // length_width of 0 means that there is no payload field.
  int number_width = 0;
  int length_width = 0;

  int64_t total_bytes() const {
    return static_cast<int64_t>(head_bytes) + payload_bytes;
  }
};

// The layout whose total_bytes() is `target_bytes`, or the nearest possible
// size if the header alone is larger or the target exceeds kMaxMessageBytes.
MessageLayout LayOutMessage(const RequestHeader& header, int64_t target_bytes);
MessageLayout LayOutMessage(const ResponseHeader& header, int64_t target_bytes);

// Writes layout.head_bytes bytes to `out`. The layout must be that of the
// header.
void WriteHead(const RequestHeader& header, const MessageLayout& layout,
               char* out);
void WriteHead(const ResponseHeader& header, const MessageLayout& layout,
               char* out);

// Decodes a message that is the concatenation of `slices`. Fields may be in any
// order; unknown fields are skipped. Returns false if the message is malformed,
// and leaves the header unspecified.
//
// Strings of the header point into the slices, or into `scratch` if a string
// spans several slices.
[[nodiscard]] bool DecodeMessage(absl::Span<const absl::string_view> slices,
                                 RequestHeader& header, std::string& scratch);
[[nodiscard]] bool DecodeMessage(absl::Span<const absl::string_view> slices,
                                 ResponseHeader& header, std::string& scratch);

// Same, for a message whose last payload_bytes are not available: they must be
// exactly the payload, and `head` everything before it. Messages with another
// structure count as malformed.
[[nodiscard]] bool DecodeHead(absl::string_view head, int64_t payload_bytes,
                              RequestHeader& header, std::string& scratch);
[[nodiscard]] bool DecodeHead(absl::string_view head, int64_t payload_bytes,
                              ResponseHeader& header, std::string& scratch);

// Returns the size of the head of a message of total_bytes that begins with
// `bytes` and ends with its payload. Returns 0 if the payload does not begin
// there, or other fields follow it, or the message is malformed.
size_t FindHead(absl::string_view bytes, int64_t total_bytes);

}  // namespace distbench::payload

#endif  // DISTBENCH_PAYLOAD_MESSAGE_CODEC_H_
