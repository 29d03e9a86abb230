#include "distbench/protocol/tcp/settings.h"

#include <algorithm>
#include <variant>

#include "distbench/config/plan/driver_options.h"

namespace distbench {

int64_t ReadSetting(const std::map<std::string, DriverOptions::Value>& settings,
                    const TcpSettingLimits& setting) {
  const auto it = settings.find(setting.name);
  if (it == settings.end()) return setting.default_value;
  const auto* number = std::get_if<int64_t>(&it->second);
  if (number == nullptr) return setting.default_value;
  return std::clamp(*number, setting.minimum, setting.maximum);
}

bool UsesUnixSocket(
    const std::map<std::string, DriverOptions::Value>& server_settings) {
  const auto it = server_settings.find(kTransportSetting);
  return it != server_settings.end() &&
         it->second == DriverOptions::Value(kUnixTransport);
}

TcpSettings ReadTcpSettings(const DriverOptions& options) {
  const auto& client = options.client_settings;
  const auto& server = options.server_settings;
  return {
      .connections = ReadSetting(client, kTcpConnections),
      .calls_per_connection = ReadSetting(client, kCallsPerConnection),
      .client_max_batch = ReadSetting(client, kTcpMaxBatch),
      .server_max_batch = ReadSetting(server, kTcpMaxBatch),
      .send_queue_bytes = ReadSetting(client, kTcpSendQueueBytes),
      .uses_unix_socket = UsesUnixSocket(server),
      // One worker serves both sides.
      .spin_ns = 1000 * std::max(ReadSetting(client, kTcpSpinUs),
                                 ReadSetting(server, kTcpSpinUs)),
  };
}

}  // namespace distbench
