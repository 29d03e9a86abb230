// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PROTOCOL_TCP_SERVER_CONNECTION_H_
#define DISTBENCH_PROTOCOL_TCP_SERVER_CONNECTION_H_

#include <cstdint>
#include <optional>

#include "absl/base/attributes.h"
#include "absl/strings/string_view.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/connection.h"
#include "distbench/protocol/tcp/greeting.h"
#include "distbench/protocol/tcp/stream_server.h"

namespace distbench::protocol {

class ServerConnection;

struct TcpRequest : AcceptedRequest<ServerConnection> {
  uint64_t call_id = 0;
};

// A connection that a server has accepted. Expects the TLS handshake, if TLS is
// used, then the client's greeting, then requests. Used by its worker's thread.
class ServerConnection final
    : public AcceptedConnection<ServerConnection, TcpRequest, Connection> {
 public:
  using Context = ConnectionContext;

  ServerConnection(ConnectionContext& context, Socket accepted);

  // Poller::Watcher.
  void OnReady(uint32_t epoll_events, TransportEvents& events) override;

 private:
  friend class AcceptedConnection<ServerConnection, TcpRequest, Connection>;

  // AcceptedConnection.
  void SendReply(const TcpRequest& request);

  ABSL_ATTRIBUTE_ALWAYS_INLINE StreamError OnRequest(const FrameHeader& frame,
                                                     absl::string_view head,
                                                     int64_t read_ns,
                                                     TransportEvents& events);
  void ReadRequests(TransportEvents& events);

  std::optional<Greeting> greeting_;  // until it is over
  HeadReader<payload::RequestHeader> heads_;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_SERVER_CONNECTION_H_
