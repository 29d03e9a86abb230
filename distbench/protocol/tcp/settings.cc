// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/tcp/settings.h"

#include <algorithm>

#include "distbench/config/plan/driver_options.h"

namespace distbench::protocol {

int64_t ReadSetting(
    const std::map<std::string, config::DriverOptions::Value>& settings,
    const config::TcpSettingLimits& setting) {
  const auto* number =
      config::FindSettingValue<int64_t>(settings, setting.name);
  if (number == nullptr) return setting.default_value;
  return std::clamp(*number, setting.minimum, setting.maximum);
}

std::string ReadTextSetting(
    const std::map<std::string, config::DriverOptions::Value>& settings,
    const std::string& name, const std::string& default_value) {
  const auto* text = config::FindSettingValue<std::string>(settings, name);
  return text == nullptr ? default_value : *text;
}

int64_t ReadSpinNs(const config::DriverOptions& options) {
  return 1000 *
         std::max(ReadSetting(options.client_settings, config::kTcpSpinUs),
                  ReadSetting(options.server_settings, config::kTcpSpinUs));
}

bool UsesUnixSocket(const std::map<std::string, config::DriverOptions::Value>&
                        server_settings) {
  const auto* transport = config::FindSettingValue<std::string>(
      server_settings, config::kTransportSetting);
  return transport != nullptr && *transport == config::kUnixTransport;
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
      .spin_ns = ReadSpinNs(options),
  };
}

}  // namespace distbench::protocol
