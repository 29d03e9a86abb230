// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/testing/connection_variants.h"

#include "distbench/protocol/tcp/network_settings.h"
#include "distbench/security/testing/testing_certificates.h"
#include "distbench/security/tls_session.h"

namespace distbench::protocol {
namespace {

const security::TlsFiles& SharedFiles() {
  static const auto* const authority = new security::TestAuthority("authority");
  static const auto* const files =
      new security::TlsFiles(authority->IssueForLocalhost("node"));
  return *files;
}

}  // namespace

std::vector<ConnectionVariant> UsualVariants() {
  return {
      {.name = "Plain"},
      {.name = "ManyTlsConnections", .connections = 3, .uses_tls = true},
      {.name = "UnixSocket", .transport = "unix"},
      {.name = "NetworkSettings",
       .network = {.congestion_control = "reno",
                   .dscp = 46,
                   .send_buffer_bytes = 20'000,
                   .receive_buffer_bytes = 20'000}},
      {.name = "LimitedConnections",
       .connections = 2,
       .transport = "unix",
       .calls_per_connection = 20},
  };
}

std::vector<ConnectionVariant> OneCallVariants() {
  return {
      {.name = "Plain", .calls_per_connection = 1},
      {.name = "ManyTlsConnections",
       .connections = 2,
       .uses_tls = true,
       .calls_per_connection = 1},
  };
}

std::vector<ConnectionVariant> TimedVariants() {
  return {
      {.name = "Plain", .measures_time_parts = true},
      {.name = "ManyTlsConnections",
       .connections = 3,
       .uses_tls = true,
       .measures_time_parts = true},
  };
}

std::vector<ConnectionVariant> StampedVariants() {
  return {
      {.name = "Plain", .wire_time = {.share = 1}},
      {.name = "ManyTlsConnections",
       .connections = 3,
       .uses_tls = true,
       .wire_time = {.share = 1}},
      {.name = "ACallPerConnection",
       .calls_per_connection = 1,
       .wire_time = {.share = 1}},
      {.name = "SmallBuffers",
       .network = {.send_buffer_bytes = 20'000, .receive_buffer_bytes = 20'000},
       .wire_time = {.share = 1}},
  };
}

config::DriverOptions OptionsOf(const ConnectionVariant& variant) {
  config::DriverOptions options;
  options.client_settings = options.server_settings = variant.settings;
  options.client_settings["connections"] = variant.connections;
  options.client_settings["calls_per_connection"] =
      variant.calls_per_connection;
  options.server_settings["transport"] = variant.transport;
  return options;
}

ConnectionSecurity SecurityOf(const ConnectionVariant& variant,
                              const std::string& test_nonce,
                              const std::string& protocol) {
  ConnectionSecurity security = {.test_nonce = test_nonce,
                                 .network = std::make_shared<DriverNetwork>(
                                     variant.network, variant.network),
                                 .wire_time = variant.wire_time};
  if (variant.uses_tls) {
    security.tls = security::TlsContext::Make(
                       SharedFiles(), security::TlsRole::kNode, protocol)
                       .value();
  }
  return security;
}

}  // namespace distbench::protocol
