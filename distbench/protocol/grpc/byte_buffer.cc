#include "distbench/protocol/grpc/byte_buffer.h"

#include <grpc/slice.h>

#include <algorithm>

#include "distbench/payload/payload_slab.h"

namespace distbench {
namespace {

void AppendPayload(int64_t bytes, std::vector<grpc::Slice>& slices) {
  const absl::string_view slab = PayloadSlab();
  while (bytes > 0) {
    const int64_t piece = std::min<int64_t>(bytes, slab.size());
    slices.emplace_back(slab.data(), piece, grpc::Slice::STATIC_SLICE);
    bytes -= piece;
  }
}

}  // namespace

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
