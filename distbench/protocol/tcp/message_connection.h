// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The messages of a connection in both directions, whatever their format: when
// they are written and read. What is queued waits for the next Flush(), so that
// the messages of one turn share a write.

#ifndef DISTBENCH_PROTOCOL_TCP_MESSAGE_CONNECTION_H_
#define DISTBENCH_PROTOCOL_TCP_MESSAGE_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/strings/string_view.h"
#include "distbench/base/clock.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_connection.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/protocol/tcp/write_queue.h"

namespace distbench::protocol {

// From the end of a connection's handshake until it closes. `Context` is a
// StreamContext. `Queue` is a WriteQueue, or something like it, which may have
// StampReplies(now_ns) for replies that say when they were flushed. `Decoder`
// has
//   StreamError Decode(absl::string_view bytes, const OnMessage& on_message);
//   size_t payload_bytes_left() const;
//   void Reset();
// It takes what has been received, however it is split, and calls on_message()
// for each message, until that returns an error, which it returns; it says how
// many bytes it will skip now; and it begins with another stream. Used by its
// worker's thread.
template <typename Context, typename Queue, typename Decoder>
class MessageConnection : public StreamConnection {
 protected:
  static constexpr int64_t kAnyNumber = std::numeric_limits<int64_t>::max();

  // Batches of max_batch messages are written at once, as are large ones.
  // `arguments` are those of the decoder.
  template <typename... Arguments>
  explicit MessageConnection(Context& context, int64_t max_batch = kAnyNumber,
                             bool copies = true, Arguments... arguments)
      : StreamConnection(context),
        queue_(copies),
        context_(context),
        max_batch_(max_batch),
        decoder_(arguments...) {}
  ~MessageConnection() = default;

  Context& context() { return context_; }
  int64_t queued_bytes() const { return queue_.queued_bytes(); }

  // What waits to be written, in the unit of OnWritten().
  int64_t unwritten() const { return queued_bytes(); }

  // As StreamConnection; messages may have been queued before.
  void Open(Stream stream, bool watched) {
    StreamConnection::Open(std::move(stream), watched);
    decoder_.Reset();
    if (!queue_.empty()) MarkDirty();
  }

  // Drops what is queued.
  void Close() {
    StreamConnection::Close();
    queue_.Clear();
  }

  // Call this when a message of this size has been queued, perhaps before
  // Open(). It is written by the next Flush() or earlier. Returns the size.
  ABSL_ATTRIBUTE_ALWAYS_INLINE int64_t Queued(int64_t message_bytes) {
    if (!is_dirty()) MarkDirty();
    ++batched_messages_;
    batched_bytes_ += message_bytes;
    if (batched_messages_ >= max_batch_ ||
        batched_bytes_ >= config::kTcpMaxBatchBytes) {
      Write();
    }
    return message_bytes;
  }

  // Reads once. For each message that has arrived, calls on_message() with what
  // the decoder says of it, and read_ns.
  template <typename OnMessage>
  void Read(const OnMessage& on_message);

  // Called before what is queued is written, and, of connections that take time
  // stamps, when so many bytes of it have been.
  virtual void OnFlush() {}
  virtual void OnWritten(int64_t /*bytes*/) {}

  // Called when the connection has closed because of an error.
  virtual void OnLost(const std::string& reason) = 0;

  Queue queue_;

 private:
  // Not inline, so that Queued() is small.
  ABSL_ATTRIBUTE_NOINLINE void Write() final;
  void OnBroken(const std::string& reason) final {
    queue_.Clear();
    OnLost(reason);
  }

  Context& context_;
  const int64_t max_batch_;
  Decoder decoder_;
  int64_t batched_messages_ = 0;  // queued since the last Write()
  int64_t batched_bytes_ = 0;
};

template <typename Context, typename Queue, typename Decoder>
template <typename OnMessage>
void MessageConnection<Context, Queue, Decoder>::Read(
    const OnMessage& on_message) {
  const size_t wanted = decoder_.payload_bytes_left() > context_.kReadBytes
                            ? context_.kMaxReadBytes
                            : context_.kReadBytes;
  const size_t received = ReadSome(wanted);
  if (received == 0) return;
  const int64_t read_ns = base::RealClock().MonotonicNs();
  const StreamError error = decoder_.Decode(
      absl::string_view(context_.read_buffer.get(), received),
      [&](const auto&... message) { return on_message(message..., read_ns); });
  if (error != StreamError::kNone) Break(error);
}

template <typename Context, typename Queue, typename Decoder>
void MessageConnection<Context, Queue, Decoder>::Write() {
  if (batched_messages_ > 0) {
    OnFlush();
    if constexpr (requires { queue_.StampReplies(int64_t{}); }) {
      if (queue_.has_unstamped_replies()) {
        queue_.StampReplies(base::RealClock().MonotonicNs());
      }
    }
  }
  batched_messages_ = 0;
  batched_bytes_ = 0;
  if (!accepts_writes()) return;
  const int64_t bytes_before = queue_.queued_bytes();
  const WriteQueue::Outcome outcome = queue_.Write(stream());
  if (stream().stamps() != nullptr) [[unlikely]] {
    OnWritten(bytes_before - queue_.queued_bytes());
  }
  switch (outcome) {
    case WriteQueue::Outcome::kEmpty:
      break;
    case WriteQueue::Outcome::kNotEmpty:
      OnFull();
      break;
    case WriteQueue::Outcome::kBroken:
      BreakWithStreamError(StreamError::kSocketFailed);
      break;
  }
}

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_MESSAGE_CONNECTION_H_
