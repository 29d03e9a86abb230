// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PROTOCOL_TCP_CONNECTION_H_
#define DISTBENCH_PROTOCOL_TCP_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/strings/string_view.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/frame.h"
#include "distbench/protocol/tcp/message_connection.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_connection.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/protocol/tcp/write_queue.h"

namespace distbench::protocol {

// Whether a header refers to memory of its own.
inline bool HasStrings(const payload::RequestHeader& header) {
  return !header.trace_context.empty();
}
inline bool HasStrings(const payload::ResponseHeader& header) {
  return !header.error_message.empty();
}

// The frames that wait to be written to one connection (write_queue.h).
class SendQueue {
 public:
  static constexpr int64_t kMaxWriteBytes = WriteQueue::kMaxWriteBytes;

  using Outcome = WriteQueue::Outcome;

  // As WriteQueue.
  explicit SendQueue(bool copies = true) : queue_(copies) {}

  // Appends a message of target_bytes (see message_codec.h), whose head must
  // not exceed kMaxHeadBytes. Returns the message's size.
  int64_t Append(FrameKind kind, uint64_t call_id,
                 const payload::RequestHeader& header, int64_t target_bytes) {
    return AppendMessage(kind, call_id, header, target_bytes, last_request_);
  }
  int64_t Append(FrameKind kind, uint64_t call_id,
                 const payload::ResponseHeader& header, int64_t target_bytes) {
    return AppendMessage(kind, call_id, header, target_bytes, last_response_);
  }

  // Appends a timed reply to a request that waited for queue_ns and whose
  // handler began at begun_ns (monotonic). StampReplies() must be called before
  // Write().
  int64_t AppendTimedReply(uint64_t call_id,
                           const payload::ResponseHeader& header,
                           int64_t target_bytes, int64_t queue_ns,
                           int64_t begun_ns) {
    const int64_t message_bytes =
        Append(FrameKind::kTimedReply, call_id, header, target_bytes);
    unstamped_.push_back({.position = queue_.end_position() -
                                      last_response_.encoded_bytes +
                                      kFrameHeaderBytes,
                          .queue_ns = queue_ns,
                          .begun_ns = begun_ns});
    return message_bytes;
  }

  // Writes the times of the timed replies that were appended since the last
  // call: their handlers end now.
  void StampReplies(int64_t now_ns) {
    for (const Unstamped& reply : unstamped_) {
      EncodeReplyTimes(
          {.queue_ns = reply.queue_ns, .handler_ns = now_ns - reply.begun_ns},
          queue_.At(reply.position));
    }
    unstamped_.clear();
  }
  bool has_unstamped_replies() const { return !unstamped_.empty(); }

  // As WriteQueue.
  bool empty() const { return queue_.empty(); }
  int64_t queued_bytes() const { return queue_.queued_bytes(); }
  [[nodiscard]] Outcome Write(Stream& stream) { return queue_.Write(stream); }

  // Drops all frames.
  void Clear() {
    queue_.Clear();
    unstamped_.clear();
  }

 private:
  // A small frame is copied as a block of this size: so that the copy is not a
  // call.
  static constexpr size_t kBlockBytes = 64;

  // A timed reply whose times belong at this position of the queue.
  struct Unstamped {
    size_t position;
    int64_t queue_ns;
    int64_t begun_ns;
  };

  // The last encoded frame. It is copied for the next frame if only the call's
  // id differs, as with most calls of a connection.
  template <typename Header>
  struct Template {
    bool is_reusable = false;  // there is one, and it has no strings
    Header header = {};
    int64_t target_bytes = 0;
    int64_t message_bytes = 0;
    int64_t payload_bytes = 0;  // that are not part of `encoded`
    size_t encoded_bytes = 0;
    std::string encoded;  // those bytes, and more up to kBlockBytes
  };

  template <typename Header>
  ABSL_ATTRIBUTE_ALWAYS_INLINE int64_t AppendMessage(FrameKind kind,
                                                     uint64_t call_id,
                                                     const Header& header,
                                                     int64_t target_bytes,
                                                     Template<Header>& last);
  template <typename Header>
  static void Encode(FrameKind kind, const Header& header, int64_t target_bytes,
                     Template<Header>& frame);

  // Compares headers, of which the second has no strings.
  static bool IsSame(const payload::RequestHeader& a,
                     const payload::RequestHeader& b) {
    return a.rpc_index == b.rpc_index &&
           a.server_instance == b.server_instance && a.warmup == b.warmup &&
           a.response_bytes == b.response_bytes &&
           a.processing_ns == b.processing_ns && !HasStrings(a);
  }
  // The times of replies are not part of their messages here.
  static bool IsSame(const payload::ResponseHeader& a,
                     const payload::ResponseHeader& b) {
    return a.server_instance == b.server_instance && !HasStrings(a);
  }

  Template<payload::RequestHeader> last_request_;
  Template<payload::ResponseHeader> last_response_;

  WriteQueue queue_;
  std::vector<Unstamped> unstamped_;
};

template <typename Header>
inline int64_t SendQueue::AppendMessage(FrameKind kind, uint64_t call_id,
                                        const Header& header,
                                        int64_t target_bytes,
                                        Template<Header>& last) {
  if (!last.is_reusable || target_bytes != last.target_bytes ||
      !IsSame(header, last.header)) [[unlikely]] {
    Encode(kind, header, target_bytes, last);
  }
  char* const out = queue_.Reserve(last.encoded.size());
  if (last.encoded.size() == kBlockBytes) [[likely]] {
    std::memcpy(out, last.encoded.data(), kBlockBytes);
  } else {
    std::memcpy(out, last.encoded.data(), last.encoded.size());
  }
  SetCallId(call_id, out);
  queue_.Commit(last.encoded_bytes, last.payload_bytes);
  return last.message_bytes;
}

// Reads the heads of one connection's messages. Most heads equal the one
// before, so comparing the bytes is usually enough. Not thread-safe.
template <typename Header>
class HeadReader {
 public:
  // As DecodeHead(). Returns null if the message is malformed. The result is
  // valid until the next call; its strings also require `head` to stay valid.
  const Header* Read(absl::string_view head, int64_t payload_bytes) {
    const bool is_same = payload_bytes == payload_bytes_ && head == head_;
    return is_same || Decode(head, payload_bytes) ? &header_ : nullptr;
  }

 private:
  // Stands for no message.
  static constexpr int64_t kNone = -1;

  bool Decode(absl::string_view head, int64_t payload_bytes) {
    payload_bytes_ = kNone;
    if (!payload::DecodeHead(head, payload_bytes, header_, scratch_))
      return false;
    // The strings point into this head, so the next one cannot share them.
    if (HasStrings(header_)) return true;
    head_.assign(head.data(), head.size());
    payload_bytes_ = payload_bytes;
    return true;
  }

  // The last head, if later ones can be compared with it.
  std::string head_;
  int64_t payload_bytes_ = kNone;

  Header header_;
  std::string scratch_;
};

// State shared by the connections of one worker.
struct ConnectionContext : StreamContext {
  ConnectionContext(const TcpSettings& settings,
                    const ConnectionSecurity& security,
                    StreamCounters& counters)
      : StreamContext(security, counters, settings.spin_ns),
        settings(settings) {}

  const TcpSettings settings;
};

// The frames of one connection in both directions. Used by its worker's thread.
class Connection
    : public MessageConnection<ConnectionContext, SendQueue, FrameDecoder> {
 protected:
  // Batches of max_batch frames are written at once.
  Connection(ConnectionContext& context, FrameKind incoming, int64_t max_batch);
  ~Connection() = default;

  // Drops what is queued.
  void Close();

  // Queues a frame, to be written by the next Flush() or earlier. May be called
  // before Open(). Returns the message's size.
  template <typename Header>
  ABSL_ATTRIBUTE_ALWAYS_INLINE int64_t Send(FrameKind kind, uint64_t call_id,
                                            const Header& header,
                                            int64_t target_bytes) {
    return Queued(queue_.Append(kind, call_id, header, target_bytes));
  }

  // As Send(), for a timed reply; see SendQueue.
  int64_t SendTimedReply(uint64_t call_id,
                         const payload::ResponseHeader& header,
                         int64_t target_bytes, int64_t queue_ns,
                         int64_t begun_ns);
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_CONNECTION_H_
