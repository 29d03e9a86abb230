// RPCs in frames (frame.h) over TCP connections, with or without TLS, or over
// Unix sockets. Shows what a machine can do without an RPC stack.

#ifndef DISTBENCH_PROTOCOL_TCP_TCP_DRIVER_H_
#define DISTBENCH_PROTOCOL_TCP_TCP_DRIVER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distbench/protocol/driver.h"
#include "distbench/protocol/host_address.h"
#include "distbench/protocol/tcp/client_connection.h"
#include "distbench/protocol/tcp/server_connection.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/stream.h"
#include "distbench/protocol/tcp/stream_client.h"
#include "distbench/protocol/tcp/stream_driver.h"
#include "distbench/protocol/tcp/stream_error.h"
#include "distbench/protocol/tcp/stream_server.h"
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
  std::unique_ptr<SocketTransport> MakeTransport() override {
    return std::make_unique<SocketTransportOf<StreamClient<ClientConnection>,
                                              StreamServer<ServerConnection>>>(
        settings_, security(), counters_);
  }

  const TcpSettings settings_;
  StreamCounters counters_;
};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TCP_TCP_DRIVER_H_
