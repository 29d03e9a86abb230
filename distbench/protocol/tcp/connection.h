#ifndef DISTBENCH_PROTOCOL_TCP_CONNECTION_H_
#define DISTBENCH_PROTOCOL_TCP_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/attributes.h"
#include "absl/strings/string_view.h"
#include "distbench/base/clock.h"
#include "distbench/config/plan/driver_options.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/frame.h"
#include "distbench/protocol/tcp/send_queue.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_connection.h"
#include "distbench/protocol/tcp/stream_error.h"

namespace distbench::protocol {

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

  static bool HasStrings(const payload::RequestHeader& header) {
    return !header.trace_context.empty();
  }
  static bool HasStrings(const payload::ResponseHeader& header) {
    return !header.error_message.empty();
  }

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

// The frames of one connection in both directions, from the end of its
// handshake until it closes. Used by its worker's thread.
class Connection : public StreamConnection {
 protected:
  // Batches of max_batch frames are written at once.
  Connection(ConnectionContext& context, FrameKind incoming, int64_t max_batch);
  ~Connection() = default;

  ConnectionContext& context() { return context_; }
  int64_t queued_bytes() const { return queue_.queued_bytes(); }

  // As StreamConnection; frames may have been queued before.
  void Open(Stream stream, bool watched);

  // Drops what is queued.
  void Close();

  // Queues a frame, to be written by the next Flush() or earlier. May be called
  // before Open(). Returns the message's size.
  template <typename Header>
  ABSL_ATTRIBUTE_ALWAYS_INLINE int64_t Send(FrameKind kind, uint64_t call_id,
                                            const Header& header,
                                            int64_t target_bytes);

  // As Send(), for a timed reply; see SendQueue.
  int64_t SendTimedReply(uint64_t call_id,
                         const payload::ResponseHeader& header,
                         int64_t target_bytes, int64_t queue_ns,
                         int64_t begun_ns);

  // Reads once. Calls
  //   StreamError on_frame(const FrameHeader&, absl::string_view head,
  //                        int64_t read_ns)
  // for each frame that has arrived; `head` is valid during that call.
  template <typename OnFrame>
  void Read(const OnFrame& on_frame);

  // Call this with events that contain EPOLLERR: takes what the kernel reports
  // of sends without copy. Returns the events without EPOLLERR if that was why
  // they have it: an error comes again.
  uint32_t TakeReports(uint32_t epoll_events);

  // Called before the queued frames are written.
  virtual void OnFlush() {}

  // Called when the connection has closed because of an error.
  virtual void OnLost(const std::string& reason) = 0;

 private:
  void Write() final;
  void OnBroken(const std::string& reason) final;

  ABSL_ATTRIBUTE_ALWAYS_INLINE int64_t Queued(int64_t message_bytes);

  ConnectionContext& context_;
  const int64_t max_batch_;
  const bool copies_;
  SendQueue queue_;
  FrameDecoder decoder_;
  int64_t batched_frames_ = 0;
  int64_t batched_bytes_ = 0;
};

template <typename Header>
inline int64_t Connection::Send(FrameKind kind, uint64_t call_id,
                                const Header& header, int64_t target_bytes) {
  return Queued(queue_.Append(kind, call_id, header, target_bytes));
}

// A frame with a message of this size has been queued.
inline int64_t Connection::Queued(int64_t message_bytes) {
  if (!is_dirty()) MarkDirty();
  ++batched_frames_;
  batched_bytes_ += message_bytes;
  if (batched_frames_ >= max_batch_ ||
      batched_bytes_ >= config::kTcpMaxBatchBytes) {
    Write();
  }
  return message_bytes;
}

template <typename OnFrame>
void Connection::Read(const OnFrame& on_frame) {
  const size_t wanted = decoder_.payload_bytes_left() > context_.kReadBytes
                            ? context_.kMaxReadBytes
                            : context_.kReadBytes;
  const size_t received = ReadSome(wanted);
  if (received == 0) return;
  const int64_t read_ns = base::RealClock().MonotonicNs();
  const StreamError error =
      decoder_.Decode(absl::string_view(context_.read_buffer.get(), received),
                      [&](const FrameHeader& header, absl::string_view head) {
                        return on_frame(header, head, read_ns);
                      });
  if (error != StreamError::kNone) Break(error);
}

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_CONNECTION_H_
