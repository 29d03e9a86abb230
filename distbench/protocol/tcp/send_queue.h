#ifndef DISTBENCH_PROTOCOL_TCP_SEND_QUEUE_H_
#define DISTBENCH_PROTOCOL_TCP_SEND_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/base/attributes.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/tcp/frame.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/write_queue.h"

namespace distbench::protocol {

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
  static void Encode(FrameKind kind, const payload::RequestHeader& header,
                     int64_t target_bytes,
                     Template<payload::RequestHeader>& frame);
  static void Encode(FrameKind kind, const payload::ResponseHeader& header,
                     int64_t target_bytes,
                     Template<payload::ResponseHeader>& frame);
  template <typename Header>
  static void EncodeMessage(FrameKind kind, const Header& header,
                            int64_t target_bytes, Template<Header>& frame);

  static bool HasStrings(const payload::RequestHeader& header) {
    return !header.trace_context.empty();
  }
  static bool HasStrings(const payload::ResponseHeader& header) {
    return !header.error_message.empty();
  }
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

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_SEND_QUEUE_H_
