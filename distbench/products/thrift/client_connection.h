// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_THRIFT_CLIENT_CONNECTION_H_
#define DISTBENCH_PRODUCTS_THRIFT_CLIENT_CONNECTION_H_

#include <cstddef>
#include <cstdint>

#include "distbench/payload/message_codec.h"
#include "distbench/products/thrift/sequence_ids.h"
#include "distbench/products/thrift/thrift_connection.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/connection.h"
#include "distbench/protocol/tcp/dial.h"
#include "distbench/protocol/tcp/dialled_connection.h"
#include "distbench/protocol/tcp/stream_error.h"

namespace distbench::thrift {

// One connection of a worker to a server. Thrift has no way to tell the server
// that a call has ended.
class ThriftClientConnection final
    : public protocol::DialledConnection<ThriftClientConnection,
                                         ThriftConnection> {
 public:
  using Context = ThriftContext;

  // A request's other fields take less than the rest.
  static constexpr size_t kMaxTraceBytes = ThriftDecoder::kMaxKeptBytes - 512;

  ThriftClientConnection(ThriftContext& context, protocol::DialTarget target,
                         Calls& calls, Listener& listener)
      : DialledConnection(context, target, calls, listener),
        sequence_ids_(calls) {}

 private:
  friend class protocol::DialledConnection<ThriftClientConnection,
                                           ThriftConnection>;

  // DialledConnection.
  int64_t Queue(protocol::ClientCall& call, uint64_t call_id,
                const payload::RequestHeader& header) {
    return ThriftConnection::Send(ThriftType::kCall, sequence_ids_.Add(call_id),
                                  header, call.request_bytes);
  }
  void OnEvents(uint32_t epoll_events, protocol::TransportEvents& events);

  protocol::StreamError OnMessage(const ThriftMessage& message, int64_t read_ns,
                                  protocol::TransportEvents& events);

  SequenceIds<ThriftClientConnection> sequence_ids_;
  protocol::HeadReader<payload::ResponseHeader> heads_;
};

}  // namespace distbench::thrift

#endif  // DISTBENCH_PRODUCTS_THRIFT_CLIENT_CONNECTION_H_
