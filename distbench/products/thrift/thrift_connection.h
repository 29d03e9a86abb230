// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#ifndef DISTBENCH_PRODUCTS_THRIFT_THRIFT_CONNECTION_H_
#define DISTBENCH_PRODUCTS_THRIFT_THRIFT_CONNECTION_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/products/thrift/decoder.h"
#include "distbench/products/thrift/message.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/message_connection.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_connection.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/protocol/tcp/write_queue.h"

namespace distbench::thrift {

// What one thrift driver counts. Thread-safe.
struct ThriftCounters : protocol::StreamCounters {
  // Calls that were answered with an exception.
  std::atomic<int64_t> exceptions = 0;

  // Requests that were no data RPCs, or malformed, which were answered so.
  std::atomic<int64_t> refused_requests = 0;

  // All counters that are not zero, by name.
  std::vector<protocol::DriverCounter> List() const;
};

// State shared by the connections of one worker.
struct ThriftContext : protocol::StreamContext {
  ThriftContext(const protocol::TcpSettings& settings,
                const protocol::ConnectionSecurity& security,
                ThriftCounters& counters)
      : StreamContext(security, counters, settings.spin_ns),
        settings(settings),
        thrift_counters(counters) {}

  const protocol::TcpSettings settings;
  ThriftCounters& thrift_counters;
};

// The messages of one connection in both directions. Used by its worker's
// thread.
class ThriftConnection
    : public protocol::MessageConnection<ThriftContext, protocol::WriteQueue,
                                         ThriftDecoder> {
 protected:
  explicit ThriftConnection(ThriftContext& context)
      : MessageConnection(context) {}
  ~ThriftConnection() = default;

  // Queues a message, to be written by the next Flush() or earlier. May be
  // called before Open(). Returns the message's size.
  template <typename Header>
  int64_t Send(ThriftType type, uint32_t sequence_id, const Header& header,
               int64_t target_bytes) {
    return Queued(
        AppendGenericRpc(queue_, type, sequence_id, header, target_bytes));
  }

  // Same, with an encoded frame.
  void SendFrame(absl::string_view frame);
};

}  // namespace distbench::thrift

#endif  // DISTBENCH_PRODUCTS_THRIFT_THRIFT_CONNECTION_H_
