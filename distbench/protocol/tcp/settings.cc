#include "distbench/protocol/tcp/settings.h"

#include <algorithm>
#include <map>
#include <string>
#include <variant>

#include "distbench/config/plan/driver_options.h"

namespace distbench {
namespace {

using Settings = std::map<std::string, DriverOptions::Value>;

int64_t Read(const Settings& settings, const TcpSettingLimits& setting) {
  const auto it = settings.find(setting.name);
  if (it == settings.end()) return setting.default_value;
  const auto* number = std::get_if<int64_t>(&it->second);
  if (number == nullptr) return setting.default_value;
  return std::clamp(*number, setting.minimum, setting.maximum);
}

bool UsesUnixSocket(const Settings& server) {
  const auto it = server.find(kTransportSetting);
  return it != server.end() &&
         it->second == DriverOptions::Value(kUnixTransport);
}

}  // namespace

TcpSettings ReadTcpSettings(const DriverOptions& options) {
  const Settings& client = options.client_settings;
  const Settings& server = options.server_settings;
  return {
      .connections = Read(client, kTcpConnections),
      .client_max_batch = Read(client, kTcpMaxBatch),
      .server_max_batch = Read(server, kTcpMaxBatch),
      .send_queue_bytes = Read(client, kTcpSendQueueBytes),
      .uses_unix_socket = UsesUnixSocket(server),
      // One worker serves both sides.
      .spin_ns =
          1000 * std::max(Read(client, kTcpSpinUs), Read(server, kTcpSpinUs)),
  };
}

}  // namespace distbench
