#ifndef DISTBENCH_PROTOCOL_THRIFT_SERVER_CONNECTION_H_
#define DISTBENCH_PROTOCOL_THRIFT_SERVER_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/base/object_pool.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/connection.h"
#include "distbench/protocol/tcp/server_listener.h"
#include "distbench/protocol/tcp/socket.h"
#include "distbench/protocol/thrift/thrift_connection.h"

namespace distbench {

class ThriftServerConnection;

// A request from its arrival to its reply.
struct ThriftRequest : ServerCall {
  ThriftServerConnection* connection = nullptr;
  uint32_t sequence_id = 0;
  int64_t begun_ns = 0;     // monotonic; only if time parts are measured
  std::string trace_bytes;  // the memory of trace_context
};

// A connection that a server has accepted. Expects the TLS handshake, if TLS is
// used, then calls of Thrift. Answers handshakes itself, and serves clients
// without any, as gRPC does. Used by its worker's thread.
class ThriftServerConnection final : public ThriftConnection {
 public:
  using Context = ThriftContext;
  using Request = ThriftRequest;

  using Listener = ServerListener<ThriftServerConnection>;

  // See hello_due_ns() below. The pool must outlive this.
  ThriftServerConnection(ThriftContext& context, FileDescriptor socket,
                         int64_t hello_due_ns, ObjectPool<Request>& requests,
                         Listener& listener);

  // The time by which there should have been a call; then StreamServer breaks
  // it.
  int64_t hello_due_ns() const { return hello_due_ns_; }

  // Sends a request's reply if the connection is still open, and returns the
  // request to the pool.
  void Reply(Request& request);

  // Writes as much of the queue as the socket accepts, then closes.
  void Finish();

  // The number of requests without a reply.
  size_t pending_requests() const { return pending_requests_; }
  bool is_closed() const { return !is_open(); }

  // Poller::Watcher.
  void OnReady(uint32_t epoll_events, TransportEvents& events) override;

 private:
  // ThriftConnection.
  bool IsInUse() const override { return pending_requests_ > 0; }
  void OnLost(const std::string& reason) override;

  bool Secure();
  StreamError OnMessage(const ThriftMessage& message, int64_t read_ns,
                        TransportEvents& events);
  void Deliver(const ThriftMessage& message, int64_t read_ns,
               TransportEvents& events);
  void AnswerHandshake(const ThriftMessage& message);
  void Refuse(const ThriftMessage& message, ThriftFault fault,
              absl::string_view text);
  void ThrottleReading();

  const int64_t max_queued_bytes_;
  const bool reports_times_;
  const int64_t hello_due_ns_;
  ObjectPool<Request>& requests_;
  Listener& listener_;
  bool is_secured_ = false;
  bool awaits_hello_ = true;
  size_t pending_requests_ = 0;
  HeadReader<RequestHeader> heads_;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_THRIFT_SERVER_CONNECTION_H_
