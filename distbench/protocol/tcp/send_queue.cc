#include "distbench/protocol/tcp/send_queue.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "distbench/payload/payload_slab.h"

namespace distbench {
namespace {

// Payloads up to this size are copied behind their heads: that is cheaper than
// another piece for the kernel to gather.
constexpr int64_t kMaxInlinePayloadBytes = 512;

constexpr size_t kFirstCapacity = 4096;

}  // namespace

void SendQueue::Encode(FrameKind kind, const RequestHeader& header,
                       int64_t target_bytes, Template<RequestHeader>& frame) {
  EncodeMessage(kind, header, target_bytes, frame);
}

void SendQueue::Encode(FrameKind kind, const ResponseHeader& header,
                       int64_t target_bytes, Template<ResponseHeader>& frame) {
  EncodeMessage(kind, header, target_bytes, frame);
}

template <typename Header>
void SendQueue::EncodeMessage(FrameKind kind, const Header& header,
                              int64_t target_bytes, Template<Header>& frame) {
  const MessageLayout layout = LayOutMessage(header, target_bytes);
  const bool is_inline = layout.payload_bytes <= kMaxInlinePayloadBytes;
  const size_t times_bytes = TimesBytes(kind);
  frame.header = header;
  frame.target_bytes = target_bytes;
  frame.message_bytes = layout.total_bytes();
  frame.frame_bytes = static_cast<int64_t>(kFrameHeaderBytes + times_bytes) +
                      layout.total_bytes();
  frame.payload_bytes = is_inline ? 0 : layout.payload_bytes;
  frame.encoded_bytes = frame.frame_bytes - frame.payload_bytes;
  frame.encoded.assign(std::max(frame.encoded_bytes, kBlockBytes), 'D');
  char* out = frame.encoded.data();
  EncodeFrameHeader(
      {.message_bytes =
           static_cast<uint32_t>(layout.total_bytes() + times_bytes),
       .head_bytes = static_cast<uint32_t>(layout.head_bytes + times_bytes),
       .kind = kind},
      out);
  WriteHead(header, layout, out + kFrameHeaderBytes + times_bytes);
  // The caller owns the strings; they may be gone at the next frame.
  frame.is_reusable = !HasStrings(header);
}

// Makes room for this many encoded bytes behind the existing ones.
void SendQueue::MakeRoom(size_t bytes) {
  const size_t used = end_ - begin_;
  // Moving to the front pays if it frees at least half of the memory.
  if (begin_ < capacity_ / 2 || capacity_ - used < bytes) {
    const size_t capacity =
        std::max({kFirstCapacity, 2 * capacity_, used + bytes});
    std::unique_ptr<char[]> larger(new char[capacity]);
    std::copy_n(encoded_.get() + begin_, used, larger.get());
    encoded_ = std::move(larger);
    capacity_ = capacity;
  } else {
    std::memmove(encoded_.get(), encoded_.get() + begin_, used);
  }
  for (size_t i = first_payload_; i < payloads_.size(); ++i) {
    payloads_[i].position -= begin_;
  }
  for (Unstamped& reply : unstamped_) reply.position -= begin_;
  begin_ = 0;
  end_ = used;
}

SendQueue::Outcome SendQueue::Write(Stream& stream) {
  if (empty()) return Outcome::kEmpty;
  iovec pieces[kMaxPieces];
  const ssize_t written = stream.Send(pieces, Gather(pieces));
  if (written < 0) {
    return errno == EAGAIN || errno == EWOULDBLOCK ? Outcome::kNotEmpty
                                                   : Outcome::kBroken;
  }
  Drop(written);
  return empty() ? Outcome::kEmpty : Outcome::kNotEmpty;
}

// Collects the next pieces to write.
int SendQueue::Gather(iovec* pieces) const {
  const absl::string_view slab = PayloadSlab();
  int count = 0;
  int64_t room = kMaxWriteBytes;
  const auto add = [&](const char* data, int64_t bytes) {
    bytes = std::min(bytes, room);
    if (bytes == 0) return;
    pieces[count++] = {.iov_base = const_cast<char*>(data),
                       .iov_len = static_cast<size_t>(bytes)};
    room -= bytes;
  };
  size_t position = begin_;
  size_t next = first_payload_;
  // Each iteration adds at most two pieces.
  while (room > 0 && count + 2 <= kMaxPieces) {
    const size_t until = next < payloads_.size() ? payloads_[next].position
                                                 : end_;
    add(encoded_.get() + position, static_cast<int64_t>(until - position));
    position = until;
    if (next == payloads_.size()) break;
    // Payloads that are larger than the slab take several writes.
    const int64_t payload_bytes = payloads_[next].bytes;
    const auto slab_bytes = static_cast<int64_t>(slab.size());
    add(slab.data(), std::min(payload_bytes, slab_bytes));
    if (payload_bytes > slab_bytes) break;
    ++next;
  }
  return count;
}

// Removes the bytes that were written.
void SendQueue::Drop(int64_t bytes) {
  queued_bytes_ -= bytes;
  if (queued_bytes_ == 0) {
    Clear();
    return;
  }
  while (bytes > 0) {
    const bool payload_follows = first_payload_ < payloads_.size();
    const size_t until =
        payload_follows ? payloads_[first_payload_].position : end_;
    const auto encoded =
        std::min<int64_t>(bytes, static_cast<int64_t>(until - begin_));
    begin_ += encoded;
    bytes -= encoded;
    if (begin_ < until || !payload_follows) continue;
    Payload& payload = payloads_[first_payload_];
    const int64_t dropped = std::min(bytes, payload.bytes);
    payload.bytes -= dropped;
    bytes -= dropped;
    if (payload.bytes == 0) ++first_payload_;
  }
  // Removed entries must not accumulate while the queue is never empty.
  if (first_payload_ > payloads_.size() / 2) {
    payloads_.erase(payloads_.begin(),
                    payloads_.begin() + static_cast<ptrdiff_t>(first_payload_));
    first_payload_ = 0;
  }
}

void SendQueue::Clear() {
  begin_ = end_ = 0;
  payloads_.clear();
  unstamped_.clear();
  first_payload_ = 0;
  queued_bytes_ = 0;
}

}  // namespace distbench
