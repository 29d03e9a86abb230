// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The messages of driver `thrift` on the wire; see traffic.thrift.

#ifndef DISTBENCH_PRODUCTS_THRIFT_MESSAGE_H_
#define DISTBENCH_PRODUCTS_THRIFT_MESSAGE_H_

#include <endian.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
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

// Thrift's strict binary protocol in frames, as far as driver `thrift` needs
// it.

inline constexpr uint32_t kThriftVersion = 0x80010000;
inline constexpr uint32_t kThriftVersionMask = 0xffff0000;

inline constexpr size_t kThriftSizeBytes = 4;  // before each frame
inline constexpr uint8_t kThriftStop = 0;      // the end of a struct
inline constexpr uint8_t kThriftI32 = 8;       // types of fields
inline constexpr uint8_t kThriftString = 11;

// Writes to memory that has enough room.
class ThriftWriter {
 public:
  explicit ThriftWriter(char* out) : out_(out) {}

  void Put8(uint8_t value) { *out_++ = static_cast<char>(value); }
  void Put16(uint16_t value) { Put(htobe16(value)); }
  void Put32(uint32_t value) { Put(htobe32(value)); }
  void PutBytes(absl::string_view bytes) {
    std::memcpy(out_, bytes.data(), bytes.size());
    out_ += bytes.size();
  }

  char* position() const { return out_; }

 private:
  template <typename Number>
  void Put(Number value) {
    std::memcpy(out_, &value, sizeof(value));
    out_ += sizeof(value);
  }

  char* out_;
};

// Reads any bytes. Methods return false if there are too few.
class ThriftReader {
 public:
  explicit ThriftReader(absl::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] bool Read8(uint8_t& value) { return Read(value); }
  [[nodiscard]] bool Read16(uint16_t& value) {
    if (!Read(value)) return false;
    value = be16toh(value);
    return true;
  }
  [[nodiscard]] bool Read32(uint32_t& value) {
    if (!Read(value)) return false;
    value = be32toh(value);
    return true;
  }
  [[nodiscard]] bool ReadBytes(size_t count, absl::string_view& bytes) {
    if (bytes_.size() - at_ < count) return false;
    bytes = bytes_.substr(at_, count);
    at_ += count;
    return true;
  }

  size_t position() const { return at_; }

 private:
  template <typename Number>
  bool Read(Number& value) {
    if (bytes_.size() - at_ < sizeof(value)) return false;
    std::memcpy(&value, bytes_.data() + at_, sizeof(value));
    at_ += sizeof(value);
    return true;
  }

  absl::string_view bytes_;
  size_t at_ = 0;
};

}  // namespace distbench::thrift

#endif  // DISTBENCH_PRODUCTS_THRIFT_MESSAGE_H_
