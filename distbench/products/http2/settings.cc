// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/http2/settings.h"

#include <map>
#include <string>

#include "distbench/products/http2/declaration.h"
#include "distbench/protocol/tcp/settings.h"

namespace distbench::http2 {
namespace {

Http2Limits ReadLimits(
    const std::map<std::string, config::DriverOptions::Value>& settings) {
  return {
      .stream_window_bytes = protocol::ReadSetting(settings, kStreamWindow),
      .connection_window_bytes =
          protocol::ReadSetting(settings, kConnectionWindow),
      .max_concurrent_streams = protocol::ReadSetting(settings, kMaxStreams),
      .kept_request_bytes = protocol::ReadSetting(settings, kKeptRequestBytes),
  };
}

}  // namespace

Http2Settings ReadHttp2Settings(const config::DriverOptions& options) {
  const auto& client = options.client_settings;
  const auto& server = options.server_settings;
  return {
      .connections = protocol::ReadSetting(client, config::kTcpConnections),
      .calls_per_connection =
          protocol::ReadSetting(client, config::kCallsPerConnection),
      .client = ReadLimits(client),
      .server = ReadLimits(server),
      .send_queue_bytes =
          protocol::ReadSetting(client, config::kTcpSendQueueBytes),
      .uses_unix_socket = protocol::UsesUnixSocket(server),
      .spin_ns = protocol::ReadSpinNs(options),
  };
}

}  // namespace distbench::http2
