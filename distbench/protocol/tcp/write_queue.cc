// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/write_queue.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/string_view.h"
#include "distbench/payload/payload_slab.h"

namespace distbench::protocol {
namespace {

constexpr size_t kFirstCapacity = 4096;

}  // namespace

// Makes room for this many encoded bytes behind the existing ones.
void WriteQueue::MakeRoom(size_t bytes) {
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
  moved_ += begin_;
  begin_ = 0;
  end_ = used;
}

WriteQueue::Outcome WriteQueue::Write(Stream& stream) {
  if (empty()) return Outcome::kEmpty;
  iovec pieces[kMaxPieces];
  const int count = Gather(pieces);
  const ssize_t written = copies_ ? stream.Send(pieces, count)
                                  : SendWithoutCopies(stream, pieces, count);
  if (written < 0) {
    return errno == EAGAIN || errno == EWOULDBLOCK ? Outcome::kNotEmpty
                                                   : Outcome::kBroken;
  }
  Drop(written);
  return empty() ? Outcome::kEmpty : Outcome::kNotEmpty;
}

// Collects the next pieces to write.
int WriteQueue::Gather(iovec* pieces) const {
  const absl::string_view slab = payload::PayloadSlab();
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
    const size_t until =
        next < payloads_.size() ? payloads_[next].position : end_;
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

// As Stream::Send(): errors that follow a partial success come again with the
// next call.
ssize_t WriteQueue::SendWithoutCopies(Stream& stream, const iovec* pieces,
                                      int count) {
  const auto is_large_payload = [](const iovec& piece) {
    return piece.iov_base == payload::PayloadSlab().data() &&
           piece.iov_len >= kMinBytesWithoutCopy;
  };
  ssize_t total = 0;
  for (int next = 0; next < count;) {
    const int first = next++;
    size_t wanted = pieces[first].iov_len;
    ssize_t sent;
    if (is_large_payload(pieces[first])) {
      sent = stream.SendWithoutCopy(pieces[first]);
    } else {
      for (; next < count && !is_large_payload(pieces[next]); ++next) {
        wanted += pieces[next].iov_len;
      }
      sent = stream.Send(pieces + first, next - first);
    }
    if (sent < 0) return total > 0 ? total : sent;
    total += sent;
    if (static_cast<size_t>(sent) < wanted) break;
  }
  return total;
}

// Removes the bytes that were written.
void WriteQueue::Drop(int64_t bytes) {
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

void WriteQueue::Clear() {
  begin_ = end_ = moved_ = 0;
  payloads_.clear();
  first_payload_ = 0;
  queued_bytes_ = 0;
}

}  // namespace distbench::protocol
