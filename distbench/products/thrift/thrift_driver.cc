#include "distbench/products/thrift/thrift_driver.h"

#include <utility>

#include "distbench/products/thrift/client_connection.h"
#include "distbench/products/thrift/greeting.h"
#include "distbench/products/thrift/server_connection.h"
#include "distbench/protocol/tcp/stream_client.h"
#include "distbench/protocol/tcp/stream_server.h"

namespace distbench {
namespace {

ConnectionSecurity WithHandshake(ConnectionSecurity security) {
  security.greet = MakeThriftGreeting;
  return security;
}

}  // namespace

ThriftDriver::ThriftDriver(const TcpSettings& settings,
                           AddressPreference preference,
                           std::string service_address,
                           ConnectionSecurity security)
    : StreamDriver(settings.connections, settings.uses_unix_socket,
                   std::move(preference), std::move(service_address),
                   WithHandshake(std::move(security))),
      settings_(settings) {}

std::unique_ptr<SocketTransport> ThriftDriver::MakeTransport() {
  return std::make_unique<
      SocketTransportOf<StreamClient<ThriftClientConnection>,
                        StreamServer<ThriftServerConnection>>>(
      settings_, security(), counters_);
}

}  // namespace distbench
