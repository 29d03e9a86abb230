#include "distbench/protocol/tcp/settings.h"

#include <algorithm>
#include <variant>

#include "distbench/config/plan/driver_options.h"

namespace distbench::protocol {

int64_t ReadSetting(
    const std::map<std::string, config::DriverOptions::Value>& settings,
    const config::TcpSettingLimits& setting) {
  const auto it = settings.find(setting.name);
  if (it == settings.end()) return setting.default_value;
  const auto* number = std::get_if<int64_t>(&it->second);
  if (number == nullptr) return setting.default_value;
  return std::clamp(*number, setting.minimum, setting.maximum);
}

bool UsesUnixSocket(const std::map<std::string, config::DriverOptions::Value>&
                        server_settings) {
  const auto it = server_settings.find(config::kTransportSetting);
  return it != server_settings.end() &&
         it->second == config::DriverOptions::Value(config::kUnixTransport);
}

TcpSettings ReadTcpSettings(const config::DriverOptions& options) {
  const auto& client = options.client_settings;
  const auto& server = options.server_settings;
  return {
      .connections = ReadSetting(client, config::kTcpConnections),
      .calls_per_connection = ReadSetting(client, config::kCallsPerConnection),
      .client_max_batch = ReadSetting(client, config::kTcpMaxBatch),
      .server_max_batch = ReadSetting(server, config::kTcpMaxBatch),
      .send_queue_bytes = ReadSetting(client, config::kTcpSendQueueBytes),
      .uses_unix_socket = UsesUnixSocket(server),
      // One worker serves both sides.
      .spin_ns = 1000 * std::max(ReadSetting(client, config::kTcpSpinUs),
                                 ReadSetting(server, config::kTcpSpinUs)),
  };
}

}  // namespace distbench::protocol
