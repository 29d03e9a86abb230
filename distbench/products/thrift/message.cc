// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/thrift/message.h"

#include <cstring>

namespace distbench::thrift {
namespace {

constexpr size_t kFieldBytes = 7;  // before a field's bytes

// The bytes of a frame's size and what precedes its struct.
constexpr size_t EnvelopeBytes(absl::string_view method) {
  return kThriftSizeBytes + 12 + method.size();
}

void PutEnvelope(ThriftWriter& out, size_t frame_bytes, ThriftType type,
                 absl::string_view method, uint32_t sequence_id) {
  out.Put32(static_cast<uint32_t>(frame_bytes - kThriftSizeBytes));
  out.Put32(kThriftVersion | static_cast<uint32_t>(type));
  out.Put32(static_cast<uint32_t>(method.size()));
  out.PutBytes(method);
  out.Put32(sequence_id);
}

// Begins a field of bytes.
void PutField(ThriftWriter& out, uint16_t id, size_t size) {
  out.Put8(kThriftString);
  out.Put16(id);
  out.Put32(static_cast<uint32_t>(size));
}

// Calls have an argument, replies a result.
uint16_t FieldOf(ThriftType type) { return type == ThriftType::kCall ? 1 : 0; }

template <typename Header>
int64_t AppendMessage(protocol::WriteQueue& queue, ThriftType type,
                      uint32_t sequence_id, const Header& header,
                      int64_t target_bytes) {
  constexpr size_t kBeforeMessage =
      EnvelopeBytes(kThriftGenericRpc) + kFieldBytes;
  const payload::MessageLayout layout =
      payload::LayOutMessage(header, target_bytes);
  const int64_t total_bytes = layout.total_bytes();
  const bool is_inline =
      layout.payload_bytes <= protocol::WriteQueue::kMaxInlinePayloadBytes;
  const auto inline_bytes =
      static_cast<size_t>(is_inline ? layout.payload_bytes : 0);
  const size_t encoded_bytes =
      kBeforeMessage + layout.head_bytes + inline_bytes;
  ThriftWriter out(queue.Reserve(encoded_bytes + 1));
  PutEnvelope(out, kBeforeMessage + static_cast<size_t>(total_bytes) + 1, type,
              kThriftGenericRpc, sequence_id);
  PutField(out, FieldOf(type), static_cast<size_t>(total_bytes));
  payload::WriteHead(header, layout, out.position());
  char* const end = out.position() + layout.head_bytes;
  if (is_inline) {
    std::memset(end, 'D', inline_bytes);
    end[inline_bytes] = kThriftStop;
    queue.Commit(encoded_bytes + 1, 0);
  } else {
    queue.Commit(encoded_bytes, layout.payload_bytes);
    *queue.Reserve(1) = kThriftStop;
    queue.Commit(1, 0);
  }
  return total_bytes;
}

}  // namespace

int64_t AppendGenericRpc(protocol::WriteQueue& queue, ThriftType type,
                         uint32_t sequence_id,
                         const payload::RequestHeader& header,
                         int64_t target_bytes) {
  return AppendMessage(queue, type, sequence_id, header, target_bytes);
}

int64_t AppendGenericRpc(protocol::WriteQueue& queue, ThriftType type,
                         uint32_t sequence_id,
                         const payload::ResponseHeader& header,
                         int64_t target_bytes) {
  return AppendMessage(queue, type, sequence_id, header, target_bytes);
}

std::string ThriftFrame(ThriftType type, absl::string_view method,
                        uint32_t sequence_id, absl::string_view bytes) {
  std::string frame(EnvelopeBytes(method) + kFieldBytes + bytes.size() + 1, 0);
  ThriftWriter out(frame.data());
  PutEnvelope(out, frame.size(), type, method, sequence_id);
  PutField(out, FieldOf(type), bytes.size());
  out.PutBytes(bytes);
  out.Put8(kThriftStop);
  return frame;
}

// The struct is { 1: string message, 2: i32 type }.
std::string ThriftExceptionFrame(absl::string_view method, uint32_t sequence_id,
                                 ThriftFault fault, absl::string_view text) {
  constexpr size_t kTypeBytes = 7;
  std::string frame(
      EnvelopeBytes(method) + kFieldBytes + text.size() + kTypeBytes + 1, 0);
  ThriftWriter out(frame.data());
  PutEnvelope(out, frame.size(), ThriftType::kException, method, sequence_id);
  PutField(out, 1, text.size());
  out.PutBytes(text);
  out.Put8(kThriftI32);
  out.Put16(2);
  out.Put32(static_cast<uint32_t>(fault));
  out.Put8(kThriftStop);
  return frame;
}

absl::string_view ThriftExceptionText(absl::string_view body) {
  ThriftReader reader(body);
  uint8_t type;
  uint16_t id;
  uint32_t size;
  absl::string_view text;
  const bool has_text = reader.Read8(type) && type == kThriftString &&
                        reader.Read16(id) && id == 1 && reader.Read32(size) &&
                        reader.ReadBytes(size, text);
  return has_text ? text : absl::string_view();
}

}  // namespace distbench::thrift
