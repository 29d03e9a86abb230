#include "distbench/protocol/grpc/wire/message_buffer.h"

#include <grpc/slice.h>

#include <algorithm>
#include <cstring>

#include "distbench/payload/payload_slab.h"

namespace distbench {
namespace {

grpc_slice_buffer* SlicesOf(grpc_byte_buffer* buffer) {
  return &buffer->data.raw.slice_buffer;
}

absl::string_view ViewOf(const grpc_slice& slice) {
  return {reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(slice)),
          GRPC_SLICE_LENGTH(slice)};
}

char* BytesOf(grpc_slice& slice) {
  return reinterpret_cast<char*>(GRPC_SLICE_START_PTR(slice));
}

void AppendPayload(int64_t bytes, grpc_slice_buffer* slices) {
  const absl::string_view slab = PayloadSlab();
  while (bytes > 0) {
    const int64_t piece = std::min<int64_t>(bytes, slab.size());
    grpc_slice_buffer_add(slices,
                          grpc_slice_from_static_buffer(slab.data(), piece));
    bytes -= piece;
  }
}

void AppendPayload(int64_t bytes, std::vector<grpc::Slice>& slices) {
  const absl::string_view slab = PayloadSlab();
  while (bytes > 0) {
    const int64_t piece = std::min<int64_t>(bytes, slab.size());
    slices.emplace_back(slab.data(), piece, grpc::Slice::STATIC_SLICE);
    bytes -= piece;
  }
}

}  // namespace

OutgoingMessage::OutgoingMessage()
    : buffer_(grpc_raw_byte_buffer_create(nullptr, 0)) {}

OutgoingMessage::~OutgoingMessage() { grpc_byte_buffer_destroy(buffer_); }

template <typename Header>
int64_t OutgoingMessage::Fill(const Header& header, int64_t target_bytes) {
  const MessageLayout layout = LayOutMessage(header, target_bytes);
  grpc_slice_buffer* slices = SlicesOf(buffer_);
  grpc_slice_buffer_reset_and_unref(slices);
  // A small message fits into the slice struct and needs no memory of its own.
  if (layout.total_bytes() <= GRPC_SLICE_INLINED_SIZE) {
    grpc_slice message = grpc_slice_malloc(layout.total_bytes());
    WriteHead(header, layout, BytesOf(message));
    std::memset(BytesOf(message) + layout.head_bytes, 'D',
                layout.payload_bytes);
    grpc_slice_buffer_add(slices, message);
  } else {
    grpc_slice head = grpc_slice_malloc(layout.head_bytes);
    WriteHead(header, layout, BytesOf(head));
    grpc_slice_buffer_add(slices, head);
    AppendPayload(layout.payload_bytes, slices);
  }
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

template <typename Header>
bool IncomingMessage::Decode(Header& header) {
  if (buffer_ == nullptr) return false;
  const grpc_slice_buffer* slices = SlicesOf(buffer_);
  views_.clear();
  for (size_t i = 0; i < slices->count; ++i) {
    views_.push_back(ViewOf(slices->slices[i]));
  }
  return DecodeMessage(views_, header, scratch_);
}

template int64_t OutgoingMessage::Fill(const RequestHeader&, int64_t);
template int64_t OutgoingMessage::Fill(const ResponseHeader&, int64_t);
template bool IncomingMessage::Decode(RequestHeader&);
template bool IncomingMessage::Decode(ResponseHeader&);

template <typename Header>
int64_t OutgoingByteBuffer::Fill(const Header& header, int64_t target_bytes) {
  const MessageLayout layout = LayOutMessage(header, target_bytes);
  grpc_slice head = grpc_slice_malloc(layout.head_bytes);
  WriteHead(header, layout,
            reinterpret_cast<char*>(GRPC_SLICE_START_PTR(head)));
  slices_.clear();
  slices_.emplace_back(head, grpc::Slice::STEAL_REF);
  AppendPayload(layout.payload_bytes, slices_);
  grpc::ByteBuffer message(slices_.data(), slices_.size());
  buffer_.Swap(&message);
  return layout.total_bytes();
}

void IncomingByteBuffer::Clear() {
  slices_.clear();
  buffer_.Clear();
}

int64_t IncomingByteBuffer::size_bytes() const {
  return buffer_.Valid() ? buffer_.Length() : 0;
}

template <typename Header>
bool IncomingByteBuffer::Decode(Header& header) {
  if (!buffer_.Valid() || !buffer_.Dump(&slices_).ok()) return false;
  views_.clear();
  for (const grpc::Slice& slice : slices_) {
    views_.emplace_back(reinterpret_cast<const char*>(slice.begin()),
                        slice.size());
  }
  return DecodeMessage(views_, header, scratch_);
}

template int64_t OutgoingByteBuffer::Fill(const RequestHeader&, int64_t);
template int64_t OutgoingByteBuffer::Fill(const ResponseHeader&, int64_t);
template bool IncomingByteBuffer::Decode(RequestHeader&);
template bool IncomingByteBuffer::Decode(ResponseHeader&);

}  // namespace distbench
