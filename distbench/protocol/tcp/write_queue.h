// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PROTOCOL_TCP_WRITE_QUEUE_H_
#define DISTBENCH_PROTOCOL_TCP_WRITE_QUEUE_H_

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "distbench/base/clock.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/turn_work.h"

namespace distbench::protocol {

// The bytes that wait to be written to one connection, of any protocol. Large
// payloads are references to the payload slab; everything else is encoded in
// place, one message after the other, so that many small messages form one
// block of memory. The queue reuses its memory. Not thread-safe.
//
// Without copying, payloads of at least kMinBytesWithoutCopy are written on
// their own (MSG_ZEROCOPY). The slab never changes, so that no memory waits for
// the kernel; what is encoded is copied as ever.
class WriteQueue {
 public:
  // From this size on, not copying costs less than what it takes.
  static constexpr size_t kMinBytesWithoutCopy = 16 * 1024;

  // The most bytes that one Write() writes.
  static constexpr int64_t kMaxWriteBytes = TurnWork::kSentBytes;

  // Payloads up to this size should be copied behind their heads: that is
  // cheaper than another piece for the kernel to gather.
  static constexpr int64_t kMaxInlinePayloadBytes = 512;

  enum class Outcome { kEmpty, kNotEmpty, kBroken };

  // `copies`: see above. Without, streams must have the option SO_ZEROCOPY and
  // no TLS.
  explicit WriteQueue(bool copies = true) : copies_(copies) {}

  bool empty() const { return queued_bytes_ == 0; }
  int64_t queued_bytes() const { return queued_bytes_; }

  // Returns memory for `bytes` behind what is queued, valid until the next
  // call. Inline because each message needs it.
  char* Reserve(size_t bytes) {
    if (capacity_ - end_ < bytes) [[unlikely]] {
      MakeRoom(bytes);
    }
    return encoded_.get() + end_;
  }

  // Queues the first `bytes` of the reserved memory, and then payload_bytes of
  // the slab.
  void Commit(size_t bytes, int64_t payload_bytes) {
    end_ += bytes;
    if (payload_bytes > 0) {
      payloads_.push_back({.position = end_, .bytes = payload_bytes});
    }
    queued_bytes_ += static_cast<int64_t>(bytes) + payload_bytes;
  }

  // The position of the next byte that is encoded, and the encoded byte at a
  // position. Positions are valid until Write() or Clear().
  size_t end_position() const { return moved_ + end_; }
  char* At(size_t position) { return encoded_.get() + (position - moved_); }

  // Writes as much as the stream accepts, without TLS in one system call if it
  // copies. After kBroken the stream knows the reason, and nothing more can be
  // written.
  [[nodiscard]] Outcome Write(Stream& stream);

  // Drops everything.
  void Clear();

 private:
  static constexpr int kMaxPieces = 64;

  // Payload bytes that follow the encoded byte at `position` of encoded_.
  struct Payload {
    size_t position;
    int64_t bytes;
  };

  void MakeRoom(size_t bytes);
  int Gather(iovec* pieces) const;
  static ssize_t SendWithoutCopies(Stream& stream, const iovec* pieces,
                                   int count);
  void Drop(int64_t bytes);

  const bool copies_;

  // Encoded bytes begin_ to end_, of capacity_.
  std::unique_ptr<char[]> encoded_;
  size_t begin_ = 0;
  size_t end_ = 0;
  size_t capacity_ = 0;
  size_t moved_ = 0;  // how far bytes have moved to the front

  std::vector<Payload> payloads_;
  size_t first_payload_ = 0;  // those before were written
  int64_t queued_bytes_ = 0;
};

// The calls of a connection that have been queued since it was last written,
// which share a time of sending.
class UnstampedCalls {
 public:
  void Add(ClientCall& call) { calls_.push_back(&call); }

  absl::Span<ClientCall* const> calls() const { return calls_; }

  // Sets their sent_ns. Call this before they can end.
  void Stamp() {
    if (calls_.empty()) return;
    const int64_t now_ns = base::RealClock().MonotonicNs();
    for (ClientCall* call : calls_) call->sent_ns = now_ns;
    calls_.clear();
  }

 private:
  std::vector<ClientCall*> calls_;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_WRITE_QUEUE_H_
