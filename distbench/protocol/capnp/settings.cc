#include "distbench/protocol/capnp/settings.h"

#include <algorithm>

#include "distbench/protocol/tcp/settings.h"

namespace distbench {

CapnpSettings ReadCapnpSettings(const DriverOptions& options) {
  const auto& client = options.client_settings;
  const auto& server = options.server_settings;
  return {
      .connections = ReadSetting(client, kTcpConnections),
      .calls_per_connection = ReadSetting(client, kCallsPerConnection),
      .send_queue_bytes = ReadSetting(client, kTcpSendQueueBytes),
      .uses_unix_socket = UsesUnixSocket(server),
      // One worker serves both sides.
      .spin_ns = 1000 * std::max(ReadSetting(client, kTcpSpinUs),
                                 ReadSetting(server, kTcpSpinUs)),
  };
}

}  // namespace distbench
