// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/thrift/thrift_driver.h"

#include <utility>

#include "distbench/products/thrift/client_connection.h"
#include "distbench/products/thrift/greeting.h"
#include "distbench/products/thrift/server_connection.h"
#include "distbench/protocol/tcp/stream_client.h"
#include "distbench/protocol/tcp/stream_server.h"

namespace distbench::thrift {
namespace {

protocol::ConnectionSecurity WithHandshake(
    protocol::ConnectionSecurity security) {
  security.greet = MakeThriftGreeting;
  return security;
}

}  // namespace

ThriftDriver::ThriftDriver(const protocol::TcpSettings& settings,
                           protocol::AddressPreference preference,
                           std::string service_address,
                           protocol::ConnectionSecurity security)
    : StreamDriver(settings.connections, settings.uses_unix_socket,
                   std::move(preference), std::move(service_address),
                   WithHandshake(std::move(security))),
      settings_(settings) {}

std::unique_ptr<protocol::SocketTransport> ThriftDriver::MakeTransport() {
  return std::make_unique<protocol::SocketTransportOf<
      protocol::StreamClient<ThriftClientConnection>,
      protocol::StreamServer<ThriftServerConnection>>>(settings_, security(),
                                                       counters_);
}

}  // namespace distbench::thrift
