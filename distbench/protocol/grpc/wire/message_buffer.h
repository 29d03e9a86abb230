// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The messages of data RPCs in gRPC's byte buffers.

#ifndef DISTBENCH_PROTOCOL_GRPC_WIRE_MESSAGE_BUFFER_H_
#define DISTBENCH_PROTOCOL_GRPC_WIRE_MESSAGE_BUFFER_H_

#include <grpc/byte_buffer.h>
#include <grpc/slice.h>
#include <grpc/slice_buffer.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/payload/message_codec.h"

namespace distbench::protocol {

// The beginning of a StreamMessage (data_plane.proto), encoded by hand: all of
// it except the bytes of the message inside, which follow.

struct Envelope {
  uint64_t sequence = 0;
  uint64_t message_bytes = 0;
};

// The fields' tags take 2 bytes, the sequence 8 and the length up to 5.
inline constexpr size_t kMaxEnvelopeBytes = 15;

// Writes up to kMaxEnvelopeBytes. Returns their number. message_bytes must be
// less than 2^32.
size_t WriteEnvelope(const Envelope& envelope, char* out);

// Reads the envelope of a StreamMessage, which is the concatenation of
// `slices`, and removes it from them. Returns nothing if it is malformed: if
// its fields are not those of WriteEnvelope(), or the slices hold more or less
// than the message.
std::optional<Envelope> TakeEnvelope(absl::Span<absl::string_view> slices);

// Returns the bytes of a slice, which must outlive the result.
inline absl::string_view ViewOf(const grpc_slice& slice) {
  return {reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(slice)),
          GRPC_SLICE_LENGTH(slice)};
}

// Returns a copy of a message's bytes; empty if it is null or unreadable.
std::string CopyOf(grpc_byte_buffer* message);

// Memory for outgoing messages, used for one after another.
class OutgoingMessage {
 public:
  OutgoingMessage();
  ~OutgoingMessage();
  OutgoingMessage(const OutgoingMessage&) = delete;
  OutgoingMessage& operator=(const OutgoingMessage&) = delete;

  // Makes a message of target_bytes (see message_codec.h), whose payload refers
  // to the payload slab. Returns the message's size. gRPC must be done with the
  // message before.
  template <typename Header>
  int64_t Fill(const Header& header, int64_t target_bytes);

  // Same, for a stream: puts the message into a StreamMessage, which is not
  // part of the size.
  template <typename Header>
  int64_t Fill(const Header& header, int64_t target_bytes, uint64_t sequence);

  grpc_byte_buffer* get() const { return buffer_; }

 private:
  template <typename Header>
  int64_t FillAfter(absl::string_view prefix, const Header& header,
                    const payload::MessageLayout& layout);

  grpc_byte_buffer* const buffer_;
};

// A message that has arrived, or none.
class IncomingMessage {
 public:
  IncomingMessage() = default;
  ~IncomingMessage() { Clear(); }
  IncomingMessage(const IncomingMessage&) = delete;
  IncomingMessage& operator=(const IncomingMessage&) = delete;

  void Clear();

  // The place for gRPC's next message. Requires that there is no message.
  grpc_byte_buffer** slot() { return &buffer_; }

  bool is_empty() const { return buffer_ == nullptr; }
  int64_t size_bytes() const;

  // Reads the header. Its strings are valid until Clear(). False if there is no
  // message or it is malformed.
  template <typename Header>
  [[nodiscard]] bool Decode(Header& header);

  // Same, for the message in a StreamMessage, which takes `size_bytes`.
  template <typename Header>
  [[nodiscard]] bool Decode(Header& header, uint64_t& sequence,
                            int64_t& size_bytes);

 private:
  void ViewSlices();

  grpc_byte_buffer* buffer_ = nullptr;
  std::vector<absl::string_view> views_;  // kept to reuse its memory
  std::string scratch_;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_GRPC_WIRE_MESSAGE_BUFFER_H_
