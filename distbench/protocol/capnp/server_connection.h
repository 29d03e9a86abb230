#ifndef DISTBENCH_PROTOCOL_CAPNP_SERVER_CONNECTION_H_
#define DISTBENCH_PROTOCOL_CAPNP_SERVER_CONNECTION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "distbench/protocol/capnp/capnp_connection.h"
#include "distbench/protocol/capnp/traffic.capnp.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/accepted_connection.h"
#include "distbench/protocol/tcp/server_greeting.h"

namespace distbench {

class CapnpServerConnection;

struct CapnpRequest : AcceptedRequest<CapnpServerConnection> {
  using Context =
      capnp::CallContext<capnp_schema::Message, capnp_schema::Message>;

  // Valid in OnCall(), and then as long as `answer` is waiting.
  std::optional<Context> context;
  kj::Own<kj::PromiseFulfiller<void>> answer;  // null in OnCall()
};

// A connection that a server has accepted. Expects the TLS handshake, if TLS is
// used, then the client's greeting, then Cap'n Proto. Used by its worker's
// thread.
class CapnpServerConnection final
    : public AcceptedConnection<CapnpServerConnection, CapnpRequest,
                                CapnpConnection> {
 public:
  using Context = CapnpContext;

  CapnpServerConnection(CapnpContext& context, Socket accepted);
  ~CapnpServerConnection() { EndSession(); }

  // Hands a request's reply to Cap'n Proto if the connection is still open, and
  // returns the request to the pool.
  void Reply(Request& request);

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

  void ContinueGreeting();
  kj::Promise<void> OnCall(Request::Context context);
  kj::Promise<void> Deliver(Request& request);
  void FillReply(Request& request);

  std::optional<ServerGreeting> greeting_;  // until it is over
  std::string scratch_;

  // The request that is being delivered, until its reply.
  Request* delivered_ = nullptr;

  // Of requests whose replies were not given in OnCall().
  std::vector<kj::Own<kj::PromiseFulfiller<void>>> answered_;
};

}  // namespace distbench

#endif  // DISTBENCH_PROTOCOL_CAPNP_SERVER_CONNECTION_H_
