#ifndef DISTBENCH_PROTOCOL_TCP_SERVER_CONNECTION_H_
#define DISTBENCH_PROTOCOL_TCP_SERVER_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/base/attributes.h"
#include "absl/strings/string_view.h"
#include "distbench/base/object_pool.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/connection.h"
#include "distbench/protocol/tcp/server_greeting.h"
#include "distbench/protocol/tcp/server_listener.h"

namespace distbench {

class ServerConnection;

// A request from its arrival to its reply.
struct TcpRequest : ServerCall {
  ServerConnection* connection = nullptr;
  uint64_t call_id = 0;
  int64_t begun_ns = 0;     // monotonic; only if time parts are measured
  std::string trace_bytes;  // the memory of trace_context
};

// A connection that a server has accepted. Expects the TLS handshake, if TLS is
// used, then the client's greeting, then requests. Used by its worker's thread.
class ServerConnection final : public Connection {
 public:
  using Context = ConnectionContext;
  using Request = TcpRequest;

  using Listener = ServerListener<ServerConnection>;

  // See hello_due_ns() below. The pool must outlive this.
  ServerConnection(ConnectionContext& context, FileDescriptor socket,
                   int64_t hello_due_ns, ObjectPool<TcpRequest>& requests,
                   Listener& listener);

  // The greeting should be over by this time, or StreamServer breaks the
  // connection.
  int64_t hello_due_ns() const { return hello_due_ns_; }

  // Sends a request's reply if the connection is still open, and returns the
  // request to the pool.
  void Reply(TcpRequest& request);

  // Writes as much of the queue as the socket accepts, then closes.
  void Finish();

  // The number of requests without a reply.
  size_t pending_requests() const { return pending_requests_; }
  bool is_closed() const { return !is_open(); }

  // Poller::Watcher.
  void OnReady(uint32_t epoll_events, TransportEvents& events) override;

 private:
  bool IsInUse() const override { return pending_requests_ > 0; }
  void OnClosed(const std::string& reason) override;

  void ContinueGreeting();
  template <FrameKind reply_kind>
  ABSL_ATTRIBUTE_ALWAYS_INLINE StreamError OnRequest(const FrameHeader& frame,
                                                     absl::string_view head,
                                                     int64_t read_ns,
                                                     TransportEvents& events);
  template <FrameKind reply_kind>
  void ReadRequests(TransportEvents& events);
  void ThrottleReading();

  const int64_t max_queued_bytes_;
  const bool reports_times_;
  const int64_t hello_due_ns_;
  ObjectPool<TcpRequest>& requests_;
  Listener& listener_;
  std::optional<ServerGreeting> greeting_;  // until it is over
  size_t pending_requests_ = 0;
  HeadReader<RequestHeader> heads_;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_TCP_SERVER_CONNECTION_H_
