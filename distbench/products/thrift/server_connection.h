// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_THRIFT_SERVER_CONNECTION_H_
#define DISTBENCH_PRODUCTS_THRIFT_SERVER_CONNECTION_H_

#include <cstdint>
#include <utility>

#include "absl/strings/string_view.h"
#include "distbench/payload/message_codec.h"
#include "distbench/products/thrift/thrift_connection.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/connection.h"
#include "distbench/protocol/tcp/stream_server.h"

namespace distbench::thrift {

class ThriftServerConnection;

struct ThriftRequest : protocol::AcceptedRequest<ThriftServerConnection> {
  uint32_t sequence_id = 0;
};

// A connection that a server has accepted. Expects the TLS handshake, if TLS is
// used, then calls of Thrift, of which the first is the client's hello. Answers
// handshakes itself, and serves clients without any, as gRPC does. Used by its
// worker's thread.
class ThriftServerConnection final
    : public protocol::AcceptedConnection<ThriftServerConnection, ThriftRequest,
                                          ThriftConnection> {
 public:
  using Context = ThriftContext;

  ThriftServerConnection(ThriftContext& context, Socket accepted)
      : AcceptedConnection(std::move(accepted), context) {}

  // Poller::Watcher.
  void OnReady(uint32_t epoll_events,
               protocol::TransportEvents& events) override;

 private:
  friend class protocol::AcceptedConnection<ThriftServerConnection,
                                            ThriftRequest, ThriftConnection>;

  // AcceptedConnection.
  void SendReply(const Request& request);

  protocol::StreamError OnMessage(const ThriftMessage& message, int64_t read_ns,
                                  protocol::TransportEvents& events);
  void Deliver(const ThriftMessage& message, int64_t read_ns,
               protocol::TransportEvents& events);
  void AnswerHandshake(const ThriftMessage& message);
  void Refuse(const ThriftMessage& message, ThriftFault fault,
              absl::string_view text);

  protocol::HeadReader<payload::RequestHeader> heads_;
};

}  // namespace distbench::thrift

#endif  // DISTBENCH_PRODUCTS_THRIFT_SERVER_CONNECTION_H_
