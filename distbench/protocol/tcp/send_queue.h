#ifndef DISTBENCH_PROTOCOL_TCP_SEND_QUEUE_H_
#define DISTBENCH_PROTOCOL_TCP_SEND_QUEUE_H_

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/attributes.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/tcp/frame.h"
#include "distbench/protocol/tcp/stream.h"

namespace distbench {

// The frames that wait to be written to one connection. Large payloads are
// references to the payload slab. Everything else is encoded in place, one
// frame after the other, so that many small frames form one block of memory.
// The queue reuses its memory.
class SendQueue {
 public:
  // The most bytes that one Write() writes.
  static constexpr int64_t kMaxWriteBytes = 512 * 1024;

  enum class Outcome { kEmpty, kNotEmpty, kBroken };

  // Appends a message of target_bytes (see message_codec.h), whose head must
  // not exceed kMaxHeadBytes. Returns the message's size.
  int64_t Append(FrameKind kind, uint64_t call_id, const RequestHeader& header,
                 int64_t target_bytes) {
    return AppendMessage(kind, call_id, header, target_bytes, last_request_);
  }
  int64_t Append(FrameKind kind, uint64_t call_id, const ResponseHeader& header,
                 int64_t target_bytes) {
    return AppendMessage(kind, call_id, header, target_bytes, last_response_);
  }

  // Appends a timed reply to a request that waited for queue_ns and whose
  // handler began at begun_ns (monotonic). StampReplies() must be called before
  // Write().
  int64_t AppendTimedReply(uint64_t call_id, const ResponseHeader& header,
                           int64_t target_bytes, int64_t queue_ns,
                           int64_t begun_ns) {
    const int64_t message_bytes =
        Append(FrameKind::kTimedReply, call_id, header, target_bytes);
    unstamped_.push_back(
        {.position = end_ - last_response_.encoded_bytes + kFrameHeaderBytes,
         .queue_ns = queue_ns,
         .begun_ns = begun_ns});
    return message_bytes;
  }

  // Writes the times of the timed replies that were appended since the last
  // call: their handlers end now.
  void StampReplies(int64_t now_ns) {
    for (const Unstamped& reply : unstamped_) {
      EncodeReplyTimes({.queue_ns = reply.queue_ns,
                        .handler_ns = now_ns - reply.begun_ns},
                       encoded_.get() + reply.position);
    }
    unstamped_.clear();
  }
  bool has_unstamped_replies() const { return !unstamped_.empty(); }

  bool empty() const { return queued_bytes_ == 0; }
  int64_t queued_bytes() const { return queued_bytes_; }

  // Writes as much as the stream accepts, without TLS in one system call. After
  // kBroken the stream knows the reason, and nothing more can be written.
  [[nodiscard]] Outcome Write(Stream& stream);

  // Drops all frames.
  void Clear();

 private:
  static constexpr int kMaxPieces = 64;

  // A small frame is copied as a block of this size: so that the copy is not a call.
  static constexpr size_t kBlockBytes = 64;

  // Payload bytes that follow the encoded byte at `position`.
  struct Payload {
    size_t position;
    int64_t bytes;
  };

  // A timed reply whose times belong at the encoded byte at `position`.
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
    int64_t frame_bytes = 0;
    int64_t payload_bytes = 0;  // that are not part of `encoded`
    size_t encoded_bytes = 0;
    std::string encoded;  // those bytes, and more up to kBlockBytes
  };

  template <typename Header>
  ABSL_ATTRIBUTE_ALWAYS_INLINE int64_t
  AppendMessage(FrameKind kind, uint64_t call_id, const Header& header,
                int64_t target_bytes, Template<Header>& last);
  static void Encode(FrameKind kind, const RequestHeader& header,
                     int64_t target_bytes, Template<RequestHeader>& frame);
  static void Encode(FrameKind kind, const ResponseHeader& header,
                     int64_t target_bytes, Template<ResponseHeader>& frame);
  template <typename Header>
  static void EncodeMessage(FrameKind kind, const Header& header,
                            int64_t target_bytes, Template<Header>& frame);

  static bool HasStrings(const RequestHeader& header) {
    return !header.trace_context.empty();
  }
  static bool HasStrings(const ResponseHeader& header) {
    return !header.error_message.empty();
  }
  // Compares headers, of which the second has no strings.
  static bool IsSame(const RequestHeader& a, const RequestHeader& b) {
    return a.rpc_index == b.rpc_index &&
           a.server_instance == b.server_instance && a.warmup == b.warmup &&
           a.response_bytes == b.response_bytes &&
           a.processing_ns == b.processing_ns && !HasStrings(a);
  }
  // The times of replies are not part of their messages here.
  static bool IsSame(const ResponseHeader& a, const ResponseHeader& b) {
    return a.server_instance == b.server_instance && !HasStrings(a);
  }

  void MakeRoom(size_t bytes);
  int Gather(iovec* pieces) const;
  void Drop(int64_t bytes);

  Template<RequestHeader> last_request_;
  Template<ResponseHeader> last_response_;

  // Encoded bytes begin_ to end_, of capacity_.
  std::unique_ptr<char[]> encoded_;
  size_t begin_ = 0;
  size_t end_ = 0;
  size_t capacity_ = 0;

  std::vector<Payload> payloads_;
  size_t first_payload_ = 0;  // those before were written
  std::vector<Unstamped> unstamped_;
  int64_t queued_bytes_ = 0;
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
  if (capacity_ - end_ < last.encoded.size()) [[unlikely]] {
    MakeRoom(last.encoded.size());
  }
  char* const out = encoded_.get() + end_;
  end_ += last.encoded_bytes;
  if (last.encoded.size() == kBlockBytes) [[likely]] {
    std::memcpy(out, last.encoded.data(), kBlockBytes);
  } else {
    std::memcpy(out, last.encoded.data(), last.encoded.size());
  }
  SetCallId(call_id, out);
  if (last.payload_bytes > 0) {
    payloads_.push_back({.position = end_, .bytes = last.payload_bytes});
  }
  queued_bytes_ += last.frame_bytes;
  return last.message_bytes;
}

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_SEND_QUEUE_H_
