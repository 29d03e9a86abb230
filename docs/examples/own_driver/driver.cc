// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "driver.h"

#include "connections.h"
#include "distbench/protocol/tcp/stream_client.h"
#include "distbench/protocol/tcp/stream_server.h"

namespace own_driver {

using distbench::protocol::SocketTransportOf;
using distbench::protocol::StreamClient;
using distbench::protocol::StreamServer;

std::unique_ptr<distbench::protocol::SocketTransport>
PrefixedDriver::MakeTransport() {
  return std::make_unique<SocketTransportOf<StreamClient<PrefixedClient>,
                                            StreamServer<PrefixedServer>>>(
      settings_, security(), counters_);
}

}  // namespace own_driver
