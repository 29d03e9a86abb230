// The messages of driver `thrift` on the wire; see traffic.thrift.

#ifndef DISTBENCH_PRODUCTS_THRIFT_MESSAGE_H_
#define DISTBENCH_PRODUCTS_THRIFT_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/tcp/write_queue.h"

namespace distbench::thrift {

inline constexpr absl::string_view kThriftHandshake = "Handshake";
inline constexpr absl::string_view kThriftGenericRpc = "GenericRpc";

enum class ThriftType : uint8_t {
  kCall = 1,
  kReply = 2,
  kException = 3,
  kOneway = 4,
};

// Kinds of exceptions, of those that Thrift knows.
enum class ThriftFault : int32_t {
  kUnknownMethod = 1,
  kProtocolError = 7,
};

// A message that was received.
struct ThriftMessage {
  ThriftType type;
  absl::string_view method;
  uint32_t sequence_id;

  // Of calls and replies of the service's methods the bytes that they carry,
  // up to the payload. Of others the whole struct, encoded.
  absl::string_view body;
  int64_t payload_bytes;  // which follow the body, but were not kept

  int64_t size() const {
    return static_cast<int64_t>(body.size()) + payload_bytes;
  }
};

// Queues a frame of GenericRpc with a message of target_bytes (see
// message_codec.h). Returns the message's size.
int64_t AppendGenericRpc(protocol::WriteQueue& queue, ThriftType type,
                         uint32_t sequence_id,
                         const payload::RequestHeader& header,
                         int64_t target_bytes);
int64_t AppendGenericRpc(protocol::WriteQueue& queue, ThriftType type,
                         uint32_t sequence_id,
                         const payload::ResponseHeader& header,
                         int64_t target_bytes);

// Returns a frame that carries these bytes.
std::string ThriftFrame(ThriftType type, absl::string_view method,
                        uint32_t sequence_id, absl::string_view bytes);

// Returns the frame of an exception.
std::string ThriftExceptionFrame(absl::string_view method, uint32_t sequence_id,
                                 ThriftFault fault, absl::string_view text);

// Returns the text of a received exception; empty if it has none. Any input is
// safe.
absl::string_view ThriftExceptionText(absl::string_view body);

}  // namespace distbench::thrift

#endif  // DISTBENCH_PRODUCTS_THRIFT_MESSAGE_H_
