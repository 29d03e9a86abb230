// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// HTTP/2 (RFC 9113) with gRPC's use of it, on one connection, by nghttp2. Knows
// streams and messages; who calls what is the business of its handler.

#ifndef DISTBENCH_PRODUCTS_HTTP2_SESSION_H_
#define DISTBENCH_PRODUCTS_HTTP2_SESSION_H_

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/products/http2/message.h"
#include "distbench/products/http2/settings.h"
#include "distbench/protocol/tcp/connection.h"
#include "distbench/protocol/tcp/dial.h"
#include "distbench/protocol/tcp/stream.h"

struct nghttp2_session;

namespace distbench::http2 {

// Frames that are gathered to be written at once. Payloads are references to
// the payload slab; everything else is copied.
class FrameBlock {
 public:
  // The largest frame that nghttp2 makes, with its header.
  static constexpr size_t kMaxFrameBytes = 9 + 16 * 1024;

  FrameBlock();

  // Whether there is room for this many more frames, of which there is always
  // room for two if the block is empty.
  bool has_room(int frames) const {
    return kBytes - size_ >= frames * kMaxFrameBytes &&
           end_ + 2 * frames <= kMaxPieces;
  }
  bool empty() const { return begin_ == end_; }

  // Bytes that are left to be written.
  size_t bytes_left() const;

  void Append(absl::string_view bytes);
  // At most kMaxFrameBytes.
  void AppendPayload(int64_t bytes);

  // Writes as much as the stream accepts. See SendQueue.
  [[nodiscard]] protocol::SendQueue::Outcome Write(protocol::Stream& stream);

 private:
  static constexpr size_t kBytes = 64 * 1024;
  static constexpr int kMaxPieces = 64;

  const std::unique_ptr<char[]> bytes_;
  size_t size_ = 0;  // of bytes_ in use
  iovec pieces_[kMaxPieces];
  int begin_ = 0;  // pieces that are left
  int end_ = 0;
};

// What a server keeps of a request's path. Longer ones are none of ours, whose
// methods have shorter paths than this.
inline constexpr size_t kMaxPathBytes = 64;

// One RPC's use of a stream. Must outlive the stream, or be forgotten.
struct Http2Exchange {
  Http2Output output;
  Http2Input input;

  // Whether any of the output was written.
  bool has_begun = false;

  // What of the input counts as kept by its session, and whether that was too
  // much for it; on the server only.
  int64_t counted_bytes = 0;
  bool is_unkept = false;

  // 0 if there is no stream (any more).
  int32_t stream_id = 0;

  std::string path;  // of the request, cut; on the server only

  // The end of the response, on the client only.
  std::string http_status;
  std::string grpc_status;  // a number; empty: none was sent
  std::string grpc_message;

  // Prepares for another stream.
  void Clear();
};

// Used by one thread at a time.
class Http2Session final : public protocol::BegunSession {
 public:
  enum class Side { kClient, kServer };

  class Handler {
   public:
    // A client has opened a stream. Returns a cleared exchange for it. On the
    // server only.
    virtual Http2Exchange& OnOpened() = 0;

    // There is no room for the client's request, whose stream is reset
    // ("ENHANCE_YOUR_CALM"). On the server only.
    virtual void OnUnkept() {}

    // The peer has sent everything that belongs to the stream.
    virtual void OnReceived(Http2Exchange& exchange) = 0;

    // The stream has closed, after OnReceived() or without it. `reason` is
    // HTTP/2's error, such as "CANCEL".
    virtual void OnClosed(Http2Exchange& exchange,
                          absl::string_view reason) = 0;

   protected:
    ~Handler() = default;
  };

  // `authority` is the server's address, on the client.
  Http2Session(Side side, const Http2Limits& limits,
               std::string authority = {});
  ~Http2Session() override;
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

  // The receiver of events from now on; needed before the first one.
  void set_handler(Handler& handler) { handler_ = &handler; }

  // The id of the last stream that a client can open.
  static constexpr int32_t kLastStreamId = 0x7fff'ffff;

  // For tests, which cannot open so many streams: the next one has this id.
  void SkipStreamIdsTo(int32_t id);

  // The timeout_ns of a request that may take any time.
  static constexpr int64_t kNoTimeout = 0;

  // Opens a stream for a request with the exchange's output, and tells the
  // server how long the client will wait for the response. `path` must outlive
  // the session. Returns false if there is no memory, or after the last stream.
  [[nodiscard]] bool SendRequest(Http2Exchange& exchange,
                                 absl::string_view path, int64_t timeout_ns);

  // Sends the exchange's output as the response, with gRPC's status 0.
  void SendResponse(Http2Exchange& exchange);

  // Sends a response without a message.
  void SendStatus(Http2Exchange& exchange, int grpc_status,
                  absl::string_view message);

  // Closes the stream, and forgets the exchange: it gets no more events.
  void Reset(Http2Exchange& exchange);

  // Counts what is kept of a client's request. False, after OnUnkept(), if that
  // exceeds Http2Limits::kept_request_bytes. What has been received is counted
  // already. On the server only, as is Release().
  bool CountKept(Http2Exchange& exchange);

  // The request of a closed stream needs no memory any more.
  void Release(Http2Exchange& exchange);

  // Takes what the peer has sent, and calls the handler meanwhile. Returns
  // false if the peer has violated the protocol, or if a server has made this
  // client answer without an end.
  [[nodiscard]] bool Receive(absl::string_view bytes);

  // Writes as much as the stream, the peer's windows and its limit of streams
  // allow, but not much more than a turn's work (turn_work.h). May call the
  // handler's OnClosed().
  [[nodiscard]] protocol::SendQueue::Outcome Write(protocol::Stream& stream);

  // Bytes of messages that wait to be written.
  int64_t queued_bytes() const { return queued_bytes_; }

  // About how much memory the other frames take that wait until the stream
  // accepts bytes. A peer that does not read can add to them without an end.
  int64_t waiting_frame_bytes() const;

  // Whether nothing more will be sent or received, and whether that is what the
  // peer wanted (by GOAWAY).
  bool is_over() const;
  bool was_ended_by_peer() const { return was_ended_by_peer_; }

  // Why messages wait although the stream accepts bytes.
  enum class Wait { kNone, kStreamLimit, kWindow };
  Wait wait() const;

 private:
  struct Free {
    void operator()(nghttp2_session* session) const;
  };
  struct Callbacks;

  bool Gather();
  bool IsFlooded() const;

  Handler* handler_ = nullptr;
  const bool is_server_;
  const int64_t max_kept_bytes_;  // of a server
  const std::string authority_;
  std::unique_ptr<nghttp2_session, Free> session_;
  FrameBlock block_;
  int64_t queued_bytes_ = 0;
  int64_t open_streams_ = 0;  // opened by this side
  int64_t kept_bytes_ = 0;    // of the client's requests
  bool was_ended_by_peer_ = false;
  bool has_failed_ = false;
};

}  // namespace distbench::http2

#endif  // DISTBENCH_PRODUCTS_HTTP2_SESSION_H_
