// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/grpc/wire/message_buffer.h"

#include <grpc/byte_buffer_reader.h>
#include <grpc/slice.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/types/span.h"
#include "distbench/payload/payload_slab.h"

namespace distbench::protocol {
namespace {

// Field numbers and wire types, as in a serialised message.
constexpr char kSequenceTag = 1 << 3 | 1;  // fixed64
constexpr char kMessageTag = 2 << 3 | 2;   // with a length

constexpr size_t kSequenceBytes = 8;
constexpr size_t kLengthAt = 1 + kSequenceBytes + 1;

// Reads the length at the end of an envelope. Returns the envelope's size, or 0
// if it is malformed.
size_t ReadLength(absl::string_view bytes, uint64_t& length) {
  length = 0;
  for (size_t i = kLengthAt; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    length |= uint64_t{byte & 0x7fu} << (7 * (i - kLengthAt));
    if (byte < 0x80) return i + 1;
  }
  return 0;
}

}  // namespace

std::string CopyOf(grpc_byte_buffer* message) {
  grpc_byte_buffer_reader reader;
  if (message == nullptr || !grpc_byte_buffer_reader_init(&reader, message)) {
    return "";
  }
  const grpc_slice slice = grpc_byte_buffer_reader_readall(&reader);
  std::string bytes(ViewOf(slice));
  grpc_slice_unref(slice);
  grpc_byte_buffer_reader_destroy(&reader);
  return bytes;
}

size_t WriteEnvelope(const Envelope& envelope, char* out) {
  char* const begin = out;
  *out++ = kSequenceTag;
  for (size_t i = 0; i < kSequenceBytes; ++i) {
    *out++ = static_cast<char>(envelope.sequence >> (8 * i));
  }
  *out++ = kMessageTag;
  uint64_t length = envelope.message_bytes;
  for (; length >= 0x80; length >>= 7) {
    *out++ = static_cast<char>(length | 0x80);
  }
  *out++ = static_cast<char>(length);
  return out - begin;
}

std::optional<Envelope> TakeEnvelope(absl::Span<absl::string_view> slices) {
  // The envelope may be spread over several slices.
  char buffer[kMaxEnvelopeBytes];
  size_t buffered = 0;
  size_t total_bytes = 0;
  for (absl::string_view slice : slices) {
    buffered += slice.copy(buffer + buffered, kMaxEnvelopeBytes - buffered);
    total_bytes += slice.size();
  }
  const absl::string_view bytes(buffer, buffered);
  if (bytes.size() <= kLengthAt || bytes[0] != kSequenceTag ||
      bytes[kLengthAt - 1] != kMessageTag) {
    return std::nullopt;
  }
  Envelope envelope;
  size_t to_remove = ReadLength(bytes, envelope.message_bytes);
  if (to_remove == 0 || to_remove + envelope.message_bytes != total_bytes) {
    return std::nullopt;
  }
  for (size_t i = 0; i < kSequenceBytes; ++i) {
    envelope.sequence |= uint64_t{static_cast<unsigned char>(bytes[1 + i])}
                         << (8 * i);
  }
  for (absl::string_view& slice : slices) {
    const size_t piece = std::min(to_remove, slice.size());
    slice.remove_prefix(piece);
    to_remove -= piece;
  }
  return envelope;
}

namespace {

grpc_slice_buffer* SlicesOf(grpc_byte_buffer* buffer) {
  return &buffer->data.raw.slice_buffer;
}

char* BytesOf(grpc_slice& slice) {
  return reinterpret_cast<char*>(GRPC_SLICE_START_PTR(slice));
}

void AppendPayload(int64_t bytes, grpc_slice_buffer* slices) {
  const absl::string_view slab = payload::PayloadSlab();
  while (bytes > 0) {
    const int64_t piece = std::min<int64_t>(bytes, slab.size());
    grpc_slice_buffer_add(slices,
                          grpc_slice_from_static_buffer(slab.data(), piece));
    bytes -= piece;
  }
}

}  // namespace

OutgoingMessage::OutgoingMessage()
    : buffer_(grpc_raw_byte_buffer_create(nullptr, 0)) {}

OutgoingMessage::~OutgoingMessage() { grpc_byte_buffer_destroy(buffer_); }

template <typename Header>
int64_t OutgoingMessage::Fill(const Header& header, int64_t target_bytes) {
  return FillAfter("", header, payload::LayOutMessage(header, target_bytes));
}

template <typename Header>
int64_t OutgoingMessage::Fill(const Header& header, int64_t target_bytes,
                              uint64_t sequence) {
  const payload::MessageLayout layout =
      payload::LayOutMessage(header, target_bytes);
  char prefix[kMaxEnvelopeBytes];
  const size_t prefix_bytes = WriteEnvelope(
      {.sequence = sequence,
       .message_bytes = static_cast<uint64_t>(layout.total_bytes())},
      prefix);
  return FillAfter({prefix, prefix_bytes}, header, layout);
}

template <typename Header>
int64_t OutgoingMessage::FillAfter(absl::string_view prefix,
                                   const Header& header,
                                   const payload::MessageLayout& layout) {
  grpc_slice_buffer* slices = SlicesOf(buffer_);
  grpc_slice_buffer_reset_and_unref(slices);
  // A small message fits into the slice struct and needs no memory of its own.
  const bool is_small =
      prefix.size() + layout.total_bytes() <= GRPC_SLICE_INLINED_SIZE;
  const int64_t inline_bytes = is_small ? layout.payload_bytes : 0;
  const size_t head_bytes = prefix.size() + layout.head_bytes;
  grpc_slice head = grpc_slice_malloc(head_bytes + inline_bytes);
  prefix.copy(BytesOf(head), prefix.size());
  payload::WriteHead(header, layout, BytesOf(head) + prefix.size());
  std::memset(BytesOf(head) + head_bytes, 'D', inline_bytes);
  grpc_slice_buffer_add(slices, head);
  AppendPayload(layout.payload_bytes - inline_bytes, slices);
  return layout.total_bytes();
}

void IncomingMessage::Clear() {
  if (buffer_ == nullptr) return;
  grpc_byte_buffer_destroy(buffer_);
  buffer_ = nullptr;
}

int64_t IncomingMessage::size_bytes() const {
  return buffer_ == nullptr ? 0 : SlicesOf(buffer_)->length;
}

void IncomingMessage::ViewSlices() {
  const grpc_slice_buffer* slices = SlicesOf(buffer_);
  views_.clear();
  for (size_t i = 0; i < slices->count; ++i) {
    views_.push_back(ViewOf(slices->slices[i]));
  }
}

template <typename Header>
bool IncomingMessage::Decode(Header& header) {
  if (buffer_ == nullptr) return false;
  ViewSlices();
  return payload::DecodeMessage(views_, header, scratch_);
}

template <typename Header>
bool IncomingMessage::Decode(Header& header, uint64_t& sequence,
                             int64_t& size_bytes) {
  if (buffer_ == nullptr) return false;
  ViewSlices();
  const std::optional<Envelope> envelope = TakeEnvelope(absl::MakeSpan(views_));
  if (!envelope.has_value()) return false;
  sequence = envelope->sequence;
  size_bytes = static_cast<int64_t>(envelope->message_bytes);
  return payload::DecodeMessage(views_, header, scratch_);
}

template int64_t OutgoingMessage::Fill(const payload::RequestHeader&, int64_t);
template int64_t OutgoingMessage::Fill(const payload::ResponseHeader&, int64_t);
template int64_t OutgoingMessage::Fill(const payload::RequestHeader&, int64_t,
                                       uint64_t);
template int64_t OutgoingMessage::Fill(const payload::ResponseHeader&, int64_t,
                                       uint64_t);
template bool IncomingMessage::Decode(payload::RequestHeader&);
template bool IncomingMessage::Decode(payload::ResponseHeader&);
template bool IncomingMessage::Decode(payload::RequestHeader&, uint64_t&,
                                      int64_t&);
template bool IncomingMessage::Decode(payload::ResponseHeader&, uint64_t&,
                                      int64_t&);

}  // namespace distbench::protocol
