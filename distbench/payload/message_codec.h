// The messages of data RPCs (GenericRequestResponse of proto/data_plane.proto),
// written and read by hand: a message is a head of some bytes, written into
// memory of the caller's, and a number of payload bytes that follow it and that
// are referenced, never copied (see payload_slab.h). Reading looks at the head
// only and steps over payloads.
//
// Sizes are of whole serialised messages and exact to the byte. A payload of n
// bytes takes n plus the size of its length, so that some sizes have no minimal
// encoding; the spare byte goes into a number with one byte more than it needs,
// which every protobuf parser accepts.
//
// All functions are thread-safe and allocate nothing, except where a decoder
// has to join a string that is spread over several slices.

#ifndef DISTBENCH_PAYLOAD_MESSAGE_CODEC_H_
#define DISTBENCH_PAYLOAD_MESSAGE_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace distbench {

// Larger messages are not parsed by protobuf; larger targets are cut to this.
inline constexpr int64_t kMaxMessageBytes = (int64_t{1} << 31) - 64;

struct RequestHeader {
  // What response_bytes is when the server decides.
  static constexpr int64_t kNoResponseBytes = -1;
  // What server_instance is when any server may answer: it is not sent then.
  static constexpr int32_t kAnyInstance = -1;

  int32_t rpc_index = 0;        // not negative
  int32_t server_instance = 0;  // not negative, or kAnyInstance
  bool warmup = false;
  int64_t response_bytes = kNoResponseBytes;
  int64_t processing_ns = 0;             // 0: not sent
  absl::string_view trace_context = {};  // serialised; empty: not sent
};

struct ResponseHeader {
  // What server_instance is when a response that is read does not say.
  static constexpr int32_t kNoInstance = -1;

  int32_t server_instance = 0;           // not negative when it is written
  absl::string_view error_message = {};  // empty: not sent
};

// How a message of a given header and size is put together.
struct MessageLayout {
  // Bytes that WriteHead() writes; after them come payload_bytes of payload.
  size_t head_bytes = 0;
  int64_t payload_bytes = 0;

  // Bytes of the number that a spare byte may widen (a request's rpc_index, a
  // response's server_instance), and of the payload's length; 0: the message
  // has no payload field.
  int number_width = 0;
  int length_width = 0;

  int64_t total_bytes() const {
    return static_cast<int64_t>(head_bytes) + payload_bytes;
  }
};

// The layout whose total_bytes() is `target_bytes`, or the next possible value
// if the header alone is larger or the target exceeds kMaxMessageBytes.
MessageLayout LayOutMessage(const RequestHeader& header, int64_t target_bytes);
MessageLayout LayOutMessage(const ResponseHeader& header, int64_t target_bytes);

// Writes layout.head_bytes bytes to `out`. The layout must have been made for
// the same header.
void WriteHead(const RequestHeader& header, const MessageLayout& layout,
               char* out);
void WriteHead(const ResponseHeader& header, const MessageLayout& layout,
               char* out);

// Read a message that lies in `slices`, one after the other. Fields may come in
// any order; those that a header does not have are skipped. Return false if the
// message is malformed; the header's contents are unspecified then.
//
// Strings of the header point into the slices, or into `scratch` where a slice
// does not hold all of them.
[[nodiscard]] bool DecodeMessage(absl::Span<const absl::string_view> slices,
                                 RequestHeader& header, std::string& scratch);
[[nodiscard]] bool DecodeMessage(absl::Span<const absl::string_view> slices,
                                 ResponseHeader& header, std::string& scratch);

// Likewise, of a message whose last payload_bytes are not at hand: they are the
// payload, all of it, and `head` is what comes before them. A message that is
// put together in another way is malformed here.
[[nodiscard]] bool DecodeHead(absl::string_view head, int64_t payload_bytes,
                              RequestHeader& header, std::string& scratch);
[[nodiscard]] bool DecodeHead(absl::string_view head, int64_t payload_bytes,
                              ResponseHeader& header, std::string& scratch);

}  // namespace distbench

#endif  // DISTBENCH_PAYLOAD_MESSAGE_CODEC_H_
