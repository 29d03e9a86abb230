// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// The two ends of a connection. What every driver over TCP connections does is
// inherited: they are made and made anew, secured, greeted, written, limited
// and closed; calls have numbers, deadlines and times.

#ifndef OWN_DRIVER_CONNECTIONS_H_
#define OWN_DRIVER_CONNECTIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/connection.h"
#include "distbench/protocol/tcp/dial.h"
#include "distbench/protocol/tcp/dialled_connection.h"
#include "distbench/protocol/tcp/greeting.h"
#include "distbench/protocol/tcp/message_connection.h"
#include "distbench/protocol/tcp/stream_server.h"
#include "distbench/protocol/tcp/write_queue.h"
#include "message.h"

namespace own_driver {

using distbench::protocol::TransportEvents;

// The settings of the driver tcp are enough for this one.
using Context = distbench::protocol::ConnectionContext;

using PrefixedConnection = distbench::protocol::MessageConnection<
    Context, distbench::protocol::WriteQueue, Decoder>;

// The client's end.
class PrefixedClient final
    : public distbench::protocol::DialledConnection<PrefixedClient,
                                                    PrefixedConnection> {
 public:
  using Context = own_driver::Context;

  // A head's other fields take less than the rest.
  static constexpr size_t kMaxTraceBytes = kMaxHeadBytes - 256;

  PrefixedClient(Context& context, distbench::protocol::DialTarget target,
                 Calls& calls, Listener& listener)
      : DialledConnection(context, target, calls, listener) {}

 private:
  friend class distbench::protocol::DialledConnection<PrefixedClient,
                                                      PrefixedConnection>;

  // DialledConnection.
  int64_t Queue(distbench::protocol::ClientCall& call, uint64_t call_id,
                const distbench::payload::RequestHeader& header) {
    return Queued(Append(queue_, call_id, header, call.request_bytes));
  }
  void OnEvents(uint32_t epoll_events, TransportEvents& events);

  StreamError OnReply(const Message& message, int64_t read_ns,
                      TransportEvents& events);

  distbench::protocol::HeadReader<distbench::payload::ResponseHeader> heads_;
};

class PrefixedServer;

struct PrefixedRequest : distbench::protocol::AcceptedRequest<PrefixedServer> {
  uint64_t call_id = 0;
};

// The server's end.
class PrefixedServer final
    : public distbench::protocol::AcceptedConnection<
          PrefixedServer, PrefixedRequest, PrefixedConnection> {
 public:
  using Context = own_driver::Context;

  PrefixedServer(Context& context, Socket accepted)
      : AcceptedConnection(std::move(accepted), context),
        greeting_(std::in_place, distbench::protocol::Greeting::Side::kServer,
                  context.security.test_nonce) {}

  // Poller::Watcher.
  void OnReady(uint32_t epoll_events, TransportEvents& events) override;

 private:
  friend class distbench::protocol::AcceptedConnection<
      PrefixedServer, PrefixedRequest, PrefixedConnection>;

  // AcceptedConnection.
  void SendReply(const PrefixedRequest& request);

  StreamError OnRequest(const Message& message, int64_t read_ns,
                        TransportEvents& events);

  // Makes sure that the client belongs to the same test.
  std::optional<distbench::protocol::Greeting> greeting_;
  distbench::protocol::HeadReader<distbench::payload::RequestHeader> heads_;
};

}  // namespace own_driver

#endif  // OWN_DRIVER_CONNECTIONS_H_
