// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/tcp_driver.h"

#include <memory>

#include "distbench/protocol/tcp/client_connection.h"
#include "distbench/protocol/tcp/server_connection.h"
#include "distbench/protocol/tcp/stream_client.h"
#include "distbench/protocol/tcp/stream_server.h"

namespace distbench::protocol {

// Here, and not where drivers are made, so that what each RPC does is compiled
// as the rest of this room is.
std::unique_ptr<SocketTransport> TcpDriver::MakeTransport() {
  return std::make_unique<SocketTransportOf<StreamClient<ClientConnection>,
                                            StreamServer<ServerConnection>>>(
      settings_, security(), counters_);
}

}  // namespace distbench::protocol
