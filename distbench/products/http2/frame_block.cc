#include "distbench/products/http2/frame_block.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "distbench/payload/payload_slab.h"

namespace distbench::http2 {
namespace {

// Payloads up to this size are copied: that is cheaper than another piece for
// the kernel to gather.
constexpr int64_t kMaxCopiedBytes = 512;

}  // namespace

FrameBlock::FrameBlock() : bytes_(new char[kBytes]) {}

void FrameBlock::Append(absl::string_view bytes) {
  if (bytes.empty()) return;
  char* const out = bytes_.get() + size_;
  std::memcpy(out, bytes.data(), bytes.size());
  size_ += bytes.size();
  // Bytes that follow copied bytes extend their piece.
  if (end_ > begin_) {
    iovec& last = pieces_[end_ - 1];
    if (static_cast<char*>(last.iov_base) + last.iov_len == out) {
      last.iov_len += bytes.size();
      return;
    }
  }
  pieces_[end_++] = {.iov_base = out, .iov_len = bytes.size()};
}

void FrameBlock::AppendPayload(int64_t bytes) {
  const auto size = static_cast<size_t>(bytes);
  const absl::string_view payload = payload::PayloadSlab().substr(0, size);
  if (bytes <= kMaxCopiedBytes) return Append(payload);
  pieces_[end_++] = {.iov_base = const_cast<char*>(payload.data()),
                     .iov_len = size};
}

protocol::SendQueue::Outcome FrameBlock::Write(protocol::Stream& stream) {
  if (empty()) return protocol::SendQueue::Outcome::kEmpty;
  const ssize_t written = stream.Send(pieces_ + begin_, end_ - begin_);
  if (written < 0) {
    return errno == EAGAIN || errno == EWOULDBLOCK
               ? protocol::SendQueue::Outcome::kNotEmpty
               : protocol::SendQueue::Outcome::kBroken;
  }
  auto left = static_cast<size_t>(written);
  while (left > 0) {
    iovec& piece = pieces_[begin_];
    const size_t part = std::min(left, piece.iov_len);
    piece.iov_base = static_cast<char*>(piece.iov_base) + part;
    piece.iov_len -= part;
    left -= part;
    if (piece.iov_len == 0) ++begin_;
  }
  if (!empty()) return protocol::SendQueue::Outcome::kNotEmpty;
  begin_ = end_ = 0;
  size_ = 0;
  return protocol::SendQueue::Outcome::kEmpty;
}

}  // namespace distbench::http2
