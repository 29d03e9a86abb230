#ifndef DISTBENCH_PROTOCOL_CAPNP_SERVER_CONNECTION_H_
#define DISTBENCH_PROTOCOL_CAPNP_SERVER_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "distbench/base/object_pool.h"
#include "distbench/protocol/capnp/capnp_connection.h"
#include "distbench/protocol/capnp/traffic.capnp.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/server_greeting.h"
#include "distbench/protocol/tcp/server_listener.h"
#include "distbench/protocol/tcp/socket.h"

namespace distbench {

class CapnpServerConnection;

// A request from its arrival to its reply.
struct CapnpRequest : ServerCall {
  using Context =
      capnp::CallContext<capnp_schema::Message, capnp_schema::Message>;

  CapnpServerConnection* connection = nullptr;
  // Valid in OnCall(), and then as long as `answer` is waiting.
  std::optional<Context> context;
  kj::Own<kj::PromiseFulfiller<void>> answer;  // null in OnCall()
  int64_t begun_ns = 0;     // monotonic; only if time parts are measured
  std::string trace_bytes;  // the memory of trace_context
};

// A connection that a server has accepted. Expects the TLS handshake, if TLS is
// used, then the client's greeting, then Cap'n Proto. Used by its worker's
// thread.
class CapnpServerConnection final : public CapnpConnection {
 public:
  using Context = CapnpContext;
  using Request = CapnpRequest;

  using Listener = ServerListener<CapnpServerConnection>;

  // See hello_due_ns() below. The pool must outlive this.
  CapnpServerConnection(CapnpContext& context, FileDescriptor socket,
                        int64_t hello_due_ns, ObjectPool<Request>& requests,
                        Listener& listener);
  ~CapnpServerConnection() { EndSession(); }

  // The greeting should be over by this time, or StreamServer breaks the
  // connection.
  int64_t hello_due_ns() const { return hello_due_ns_; }

  // Hands a request's reply to Cap'n Proto if the connection is still open, and
  // returns the request to the pool.
  void Reply(Request& request);

  // Writes as much of what is queued as the socket accepts, then closes.
  void Finish();

  // The number of requests without a reply.
  size_t pending_requests() const { return pending_requests_; }
  bool is_closed() const { return !is_open(); }

  // Poller::Watcher.
  void OnReady(uint32_t epoll_events, TransportEvents& events) override;

 private:
  class Endpoint;

  // CapnpConnection.
  RpcSystem BeginRpc(capnp::TwoPartyVatNetwork& network) override;
  bool IsReady() const override { return is_open() && !greeting_.has_value(); }
  bool MayRead() const override;
  void Submit() override;
  void Collect() override {}
  void DropPromises() override { answered_.clear(); }

  // StreamConnection.
  bool IsInUse() const override { return pending_requests_ > 0; }
  void OnBroken(const std::string& reason) override;

  void ContinueGreeting();
  kj::Promise<void> OnCall(Request::Context context);
  kj::Promise<void> Deliver(Request& request);
  void FillReply(Request& request);

  CapnpContext& context_;
  const int64_t hello_due_ns_;
  ObjectPool<Request>& requests_;
  Listener& listener_;
  std::optional<ServerGreeting> greeting_;  // until it is over
  size_t pending_requests_ = 0;
  std::string scratch_;

  // The request that is being delivered, until its reply.
  Request* delivered_ = nullptr;

  // Of requests whose replies were not given in OnCall().
  std::vector<kj::Own<kj::PromiseFulfiller<void>>> answered_;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_CAPNP_SERVER_CONNECTION_H_
