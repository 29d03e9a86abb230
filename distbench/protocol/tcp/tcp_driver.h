// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// RPCs in frames (frame.h) over TCP connections, with or without TLS, or over
// Unix sockets. Shows what a machine can do without an RPC stack.
//
// What keeps it cheap: the requests and replies of one turn of a worker's loop
// share a sendmsg(), one recv() takes everything that has arrived, and each of
// them reads the clock once. A frame is copied from the one before
// (connection.h), and a head compared with it (connection.h). Large payloads
// refer to memory that never changes (write_queue.h), and are skipped when they
// arrive (frame.h). The id of a reply is the call's position (call_table.h).
//
// io_uring would not pay: with one read and one write for a whole batch, system
// calls are a small part of the cost. A bare echo program (32 bytes, registered
// files, deferred task work, a turn's write and next read in one submission,
// kernel 6.18) took 1.12, 1.10 and 1.12 times the CPU time of the same program
// on epoll with 1, 100 and 1000 messages in flight, and sent 1.29, 0.99 and
// 0.79 times as many per second.

#ifndef DISTBENCH_PROTOCOL_TCP_TCP_DRIVER_H_
#define DISTBENCH_PROTOCOL_TCP_TCP_DRIVER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distbench/protocol/addresses.h"
#include "distbench/protocol/driver.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_driver.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/protocol/tcp/stream_transport.h"

namespace distbench::protocol {

// Each worker has its own connections to each server. A server distributes
// accepted connections over its workers in turn.
class TcpDriver final : public StreamDriver {
 public:
  // For service_address, see DriverEnvironment.
  TcpDriver(const TcpSettings& settings, AddressPreference preference,
            std::string service_address, ConnectionSecurity security = {})
      : StreamDriver(settings.connections, settings.uses_unix_socket,
                     std::move(preference), std::move(service_address),
                     std::move(security)),
        settings_(settings) {}

  std::vector<DriverCounter> Counters() const override {
    return counters_.List();
  }

  // Thread-safe.
  const StreamCounters& counters() const { return counters_; }

 private:
  std::unique_ptr<SocketTransport> MakeTransport() override;

  const TcpSettings settings_;
  StreamCounters counters_;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_TCP_DRIVER_H_
