#ifndef DISTBENCH_PROTOCOL_HTTP2_SERVER_CONNECTION_H_
#define DISTBENCH_PROTOCOL_HTTP2_SERVER_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/base/object_pool.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/http2/http2_connection.h"
#include "distbench/protocol/http2/session.h"
#include "distbench/protocol/tcp/server_listener.h"
#include "distbench/protocol/tcp/socket.h"

namespace distbench {

class Http2ServerConnection;

// A request from the opening of its stream until the stream has closed and the
// engine, if it got the request, has replied.
struct Http2Request : ServerCall, Http2Exchange {
  Http2ServerConnection* connection = nullptr;
  int64_t begun_ns = 0;     // monotonic; only if time parts are measured
  size_t position = 0;      // among the connection's open requests
  bool is_pending = false;  // the engine owes a reply
};

// A connection that a server has accepted. Expects the TLS handshake, if TLS is
// used, then HTTP/2. Answers handshakes itself, and serves clients without any,
// as gRPC does. Used by its worker's thread.
class Http2ServerConnection final : public Http2Connection,
                                    private Http2Session::Handler {
 public:
  using Context = Http2Context;
  using Request = Http2Request;

  using Listener = ServerListener<Http2ServerConnection>;

  // See hello_due_ns() below. The pool must outlive this.
  Http2ServerConnection(Http2Context& context, FileDescriptor socket,
                        int64_t hello_due_ns, ObjectPool<Request>& requests,
                        Listener& listener);

  // HTTP/2 should have begun by this time, or StreamServer breaks the
  // connection.
  int64_t hello_due_ns() const { return hello_due_ns_; }

  // Sends a request's reply if its stream is still open.
  void Reply(Request& request);

  // Writes as much of what is queued as the socket accepts, then closes.
  void Finish();

  // The number of requests without a reply.
  size_t pending_requests() const { return pending_requests_; }
  bool is_closed() const { return !is_open(); }

  // Poller::Watcher.
  void OnReady(uint32_t epoll_events, TransportEvents& events) override;

 private:
  // Http2Connection.
  bool IsInUse() const override { return pending_requests_ > 0; }
  void OnLost(const std::string& reason) override;

  // Http2Session::Handler.
  Http2Exchange& OnOpened() override;
  void OnReceived(Http2Exchange& received) override;
  void OnClosed(Http2Exchange& closed, absl::string_view reason) override;

  bool Secure();
  void NoticeHello();
  void Deliver(Request& request);
  void AnswerHandshake(Request& request);
  void Refuse(Request& request, int grpc_status, absl::string_view message);
  void CloseStream(Request& request);

  const bool reports_times_;
  const int64_t hello_due_ns_;
  ObjectPool<Request>& requests_;
  Listener& listener_;
  bool is_secured_ = false;
  bool awaits_hello_ = true;
  std::vector<Request*> open_;  // whose streams are open
  size_t pending_requests_ = 0;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_HTTP2_SERVER_CONNECTION_H_
