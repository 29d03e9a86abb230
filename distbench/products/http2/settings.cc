#include "distbench/products/http2/settings.h"

#include <algorithm>
#include <map>
#include <string>

#include "distbench/protocol/tcp/settings.h"

namespace distbench {
namespace {

Http2Limits ReadLimits(
    const std::map<std::string, DriverOptions::Value>& settings) {
  return {
      .stream_window_bytes = ReadSetting(settings, kHttp2StreamWindow),
      .connection_window_bytes = ReadSetting(settings, kHttp2ConnectionWindow),
      .max_concurrent_streams = ReadSetting(settings, kHttp2MaxStreams),
  };
}

}  // namespace

Http2Settings ReadHttp2Settings(const DriverOptions& options) {
  const auto& client = options.client_settings;
  const auto& server = options.server_settings;
  return {
      .connections = ReadSetting(client, kTcpConnections),
      .calls_per_connection = ReadSetting(client, kCallsPerConnection),
      .client = ReadLimits(client),
      .server = ReadLimits(server),
      .send_queue_bytes = ReadSetting(client, kTcpSendQueueBytes),
      .uses_unix_socket = UsesUnixSocket(server),
      // One worker serves both sides.
      .spin_ns = 1000 * std::max(ReadSetting(client, kTcpSpinUs),
                                 ReadSetting(server, kTcpSpinUs)),
  };
}

}  // namespace distbench
