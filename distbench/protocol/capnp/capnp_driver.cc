#include "distbench/protocol/capnp/capnp_driver.h"

#include "distbench/protocol/capnp/client_connection.h"
#include "distbench/protocol/capnp/server_connection.h"
#include "distbench/protocol/tcp/stream_client.h"
#include "distbench/protocol/tcp/stream_server.h"

namespace distbench {

std::unique_ptr<SocketTransport> CapnpDriver::MakeTransport() {
  return std::make_unique<
      SocketTransportOf<StreamClient<CapnpClientConnection>,
                        StreamServer<CapnpServerConnection>>>(
      settings_, security(), counters_);
}

}  // namespace distbench
