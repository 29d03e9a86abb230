// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/http2/http2_driver.h"

#include <utility>

#include "distbench/products/http2/client_connection.h"
#include "distbench/products/http2/server_connection.h"
#include "distbench/protocol/tcp/stream_client.h"
#include "distbench/protocol/tcp/stream_server.h"

namespace distbench::http2 {
namespace {

// HTTP/2 has its own handshake.
protocol::ConnectionSecurity WithoutGreeting(
    protocol::ConnectionSecurity security) {
  security.greet = nullptr;
  return security;
}

}  // namespace

Http2Driver::Http2Driver(const Http2Settings& settings,
                         protocol::AddressPreference preference,
                         std::string service_address,
                         protocol::ConnectionSecurity security)
    : StreamDriver(settings.connections, settings.uses_unix_socket,
                   std::move(preference), std::move(service_address),
                   WithoutGreeting(std::move(security))),
      settings_(settings) {}

std::unique_ptr<protocol::SocketTransport> Http2Driver::MakeTransport() {
  return std::make_unique<protocol::SocketTransportOf<
      protocol::StreamClient<Http2ClientConnection>,
      protocol::StreamServer<Http2ServerConnection>>>(settings_, security(),
                                                      counters_);
}

void Http2Driver::SayHello(protocol::DialTarget& target) {
  BeginHttp2Handshake(target, settings_.client, security().test_nonce);
}

absl::Status Http2Driver::Verify(absl::Span<protocol::DialTarget> targets,
                                 absl::Time deadline,
                                 const std::atomic<bool>& aborted) {
  return VerifyHttp2Peers(targets, deadline, aborted);
}

}  // namespace distbench::http2
