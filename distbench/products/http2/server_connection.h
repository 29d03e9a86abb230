// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_HTTP2_SERVER_CONNECTION_H_
#define DISTBENCH_PRODUCTS_HTTP2_SERVER_CONNECTION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/products/http2/http2_connection.h"
#include "distbench/products/http2/session.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/poller.h"
#include "distbench/protocol/tcp/stream_server.h"

namespace distbench::http2 {

class Http2ServerConnection;

// A request from the opening of its stream until the stream has closed and the
// engine, if it got the request, has replied.
struct Http2Request : protocol::AcceptedRequest<Http2ServerConnection>,
                      Http2Exchange {
  size_t position = 0;        // among the connection's open requests
  bool is_received = false;   // all of it
  bool is_pending = false;    // the engine owes a reply
  int64_t checked_bytes = 0;  // received at the last check; -1: none yet
};

// A connection that a server has accepted. Expects the TLS handshake, if TLS is
// used, then HTTP/2; the client's first request is its hello, which is not late
// while it is arriving. Answers handshakes itself, and serves clients without
// any, as gRPC does. Used by its worker's thread.
class Http2ServerConnection final
    : public protocol::AcceptedConnection<Http2ServerConnection, Http2Request,
                                          Http2Connection>,
      private Http2Session::Handler {
 public:
  using Context = Http2Context;

  Http2ServerConnection(Http2Context& context, Socket accepted)
      : AcceptedConnection(std::move(accepted), context) {}

  // As AcceptedConnection, which see. Work() also gives up requests of which
  // nothing has arrived for a while.
  int64_t next_due_ns() const { return std::min(hello_due_ns(), check_ns_); }
  void Work(int64_t now_ns);

  // Sends a request's reply if its stream is still open.
  void Reply(Request& request);

  // Poller::Watcher.
  void OnReady(uint32_t epoll_events,
               protocol::TransportEvents& events) override;

 private:
  // Http2Connection.
  void OnLost(const std::string& reason) override;

  // Http2Session::Handler.
  Http2Exchange& OnOpened() override;
  void OnUnkept() override;
  void OnReceived(Http2Exchange& received) override;
  void OnClosed(Http2Exchange& closed, absl::string_view reason) override;

  int64_t hello_due_ns() const {
    return arriving_ > 0 ? protocol::kNoDeadline
                         : AcceptedConnection::next_due_ns();
  }
  void BeginSession();
  void Deliver(Request& request);
  void AnswerHandshake(Request& request);
  void Refuse(Request& request, int grpc_status, absl::string_view message);
  void CloseStream(Request& request);
  void Recycle(Request& request);
  void CheckLater(int64_t now_ns);

  std::vector<Request*> open_;  // whose streams are open
  size_t arriving_ = 0;         // of them, those that are not received
  int64_t check_ns_ = protocol::kNoDeadline;  // of those
};

}  // namespace distbench::http2

#endif  // DISTBENCH_PRODUCTS_HTTP2_SERVER_CONNECTION_H_
