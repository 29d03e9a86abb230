// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PROTOCOL_TCP_CLIENT_CONNECTION_H_
#define DISTBENCH_PROTOCOL_TCP_CLIENT_CONNECTION_H_

#include <cstddef>
#include <cstdint>

#include "absl/base/attributes.h"
#include "absl/strings/string_view.h"
#include "distbench/payload/message_codec.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/connection.h"
#include "distbench/protocol/tcp/dial.h"
#include "distbench/protocol/tcp/dialled_connection.h"
#include "distbench/protocol/tcp/frame.h"
#include "distbench/protocol/tcp/stream_error.h"

namespace distbench::protocol {

// One connection of a worker to a server.
class ClientConnection final
    : public DialledConnection<ClientConnection, Connection> {
 public:
  using Context = ConnectionContext;

  // A request's other fields take less than the rest of kMaxHeadBytes.
  static constexpr size_t kMaxTraceBytes = kMaxHeadBytes - 256;

  ClientConnection(ConnectionContext& context, DialTarget target, Calls& calls,
                   Listener& listener);
  ~ClientConnection() { Close(); }

 private:
  friend class DialledConnection<ClientConnection, Connection>;

  // DialledConnection.
  int64_t Queue(ClientCall& call, uint64_t call_id,
                const payload::RequestHeader& header) {
    return Connection::Send(FrameKind::kRequest, call_id, header,
                            call.request_bytes);
  }
  void OnEvents(uint32_t epoll_events, TransportEvents& events);

  template <FrameKind kind>
  ABSL_ATTRIBUTE_ALWAYS_INLINE StreamError OnReply(const FrameHeader& header,
                                                   absl::string_view head,
                                                   int64_t read_ns,
                                                   TransportEvents& events);
  template <FrameKind kind>
  void ReadReplies(TransportEvents& events);

  const bool expects_times_;
  HeadReader<payload::ResponseHeader> heads_;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_CLIENT_CONNECTION_H_
