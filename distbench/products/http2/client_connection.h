// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_HTTP2_CLIENT_CONNECTION_H_
#define DISTBENCH_PRODUCTS_HTTP2_CLIENT_CONNECTION_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "distbench/base/object_pool.h"
#include "distbench/payload/message_codec.h"
#include "distbench/products/http2/http2_connection.h"
#include "distbench/products/http2/session.h"
#include "distbench/products/http2/settings.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/dial.h"
#include "distbench/protocol/tcp/dialled_connection.h"
#include "distbench/protocol/tcp/stream.h"

namespace distbench::http2 {

// Makes sure that a server belongs to this client's test, by one RPC, before
// anything else is sent to it.

// One handshake, on the client. Used by one thread at a time.
class Http2Handshake final : private Http2Session::Handler {
 public:
  // Starts the handshake. The session has this for its handler until the
  // handshake is over, and must then get another one or be destroyed.
  Http2Handshake(Http2Session& session, absl::string_view nonce);

  bool is_over() const { return is_over_; }

  // What is wrong with the server, once the handshake is over; empty if it
  // knows the nonce.
  const std::string& problem() const { return problem_; }

 private:
  // Http2Session::Handler.
  Http2Exchange& OnOpened() override { return exchange_; }
  void OnReceived(Http2Exchange& exchange) override;
  void OnClosed(Http2Exchange& exchange, absl::string_view reason) override;

  void End(std::string problem);

  const std::string nonce_;
  const std::string challenge_;
  Http2Exchange exchange_;
  bool is_over_ = false;
  std::string problem_;
};

// Begins a session and its handshake on a connection that was just made. The
// target must stay where it is until VerifyHttp2Peers().
void BeginHttp2Handshake(protocol::DialTarget& target,
                         const Http2Limits& limits, absl::string_view nonce);

// Completes the handshakes that were begun, and leaves an Http2Session in each
// target. The error names the servers that do not know the nonce. Returns
// CANCELLED soon after `aborted` is set.
absl::Status VerifyHttp2Peers(absl::Span<protocol::DialTarget> targets,
                              absl::Time deadline,
                              const std::atomic<bool>& aborted);

// One connection of a worker to a server, which performs the handshake whenever
// it reconnects. A call that ends without a response resets its stream. If the
// server says that it ends the connection (GOAWAY), it is retired; calls that
// the server has not taken go over another connection. So do those after the
// 2^30th, which has taken the last stream id.
class Http2ClientConnection final
    : public protocol::DialledConnection<Http2ClientConnection,
                                         Http2Connection>,
      private Http2Session::Handler {
 public:
  using Context = Http2Context;

  // A request's other fields take less than the rest.
  static constexpr size_t kMaxTraceBytes = Http2Input::kMaxKeptBytes - 256;

  // The target's connection, if it has one, has been verified.
  Http2ClientConnection(Http2Context& context, protocol::DialTarget target,
                        Calls& calls, Listener& listener);

  bool is_up() const { return is_open() && !handshake_.has_value(); }
  bool is_full() const;

  // Resets the call's stream.
  void Abandon(protocol::ClientCall& call);

  int64_t next_due_ns() const;
  void Work(int64_t now_ns);

 private:
  friend class protocol::DialledConnection<Http2ClientConnection,
                                           Http2Connection>;

  struct Exchange : Http2Exchange {
    protocol::ClientCall* call = nullptr;  // null: ended
  };

  // DialledConnection.
  int64_t Queue(protocol::ClientCall& call, uint64_t call_id,
                const payload::RequestHeader& header);
  void OnEvents(uint32_t epoll_events, protocol::TransportEvents& events);
  void Forget();

  // Begins the handshake.
  void OnConnected(protocol::Stream stream) override;

  // Http2Connection. Requests may wait for the handshake, too.
  bool AnyWaits() const override {
    return Http2Connection::AnyWaits() || !waiting_.empty();
  }

  // Http2Session::Handler. Servers do not open streams.
  Http2Exchange& OnOpened() override { return *exchanges_->Get(); }
  void OnReceived(Http2Exchange& received) override;
  void OnClosed(Http2Exchange& closed, absl::string_view reason) override;

  void Submit(Exchange& exchange);
  bool Complete(Exchange& exchange);
  void Fail(Exchange& exchange, std::string error);

  void ContinueHandshake();
  void NoticeGoAway();
  void RetireOnce();
  bool WasRefused(const Exchange& exchange, absl::string_view reason) const;

  // Those of one session.
  std::unique_ptr<base::ObjectPool<Exchange>> exchanges_;

  // Requests that wait for the connection.
  std::vector<Exchange*> waiting_;
  int64_t waiting_bytes_ = 0;

  std::optional<Http2Handshake> handshake_;  // while it lasts
  int64_t handshake_due_ns_ = 0;
  bool has_answered_ = false;
  bool is_retired_ = false;
};

}  // namespace distbench::http2

#endif  // DISTBENCH_PRODUCTS_HTTP2_CLIENT_CONNECTION_H_
