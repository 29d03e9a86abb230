#include "distbench/products/libfabric/settings.h"

#include <algorithm>
#include <map>
#include <variant>

#include "distbench/protocol/tcp/settings.h"

namespace distbench::libfabric {
namespace {

std::string ReadText(
    const std::map<std::string, config::DriverOptions::Value>& settings,
    const char* setting, const char* default_value) {
  const auto it = settings.find(setting);
  if (it == settings.end()) return default_value;
  const auto* text = std::get_if<std::string>(&it->second);
  return text == nullptr ? default_value : *text;
}

}  // namespace

LibfabricSettings ReadLibfabricSettings(const config::DriverOptions& options) {
  const auto& client = options.client_settings;
  const auto& server = options.server_settings;
  return {
      .provider = ReadText(server, config::kLibfabricProvider,
                           config::kLibfabricDefaultProvider),
      .is_connected = ReadText(server, config::kLibfabricEndpoint,
                               config::kRdmEndpoint) == config::kMsgEndpoint,
      .receive_buffers =
          protocol::ReadSetting(server, config::kLibfabricReceiveBuffers),
      .receive_buffer_bytes =
          protocol::ReadSetting(server, config::kLibfabricReceiveBufferBytes),
      .send_queue_bytes =
          protocol::ReadSetting(client, config::kTcpSendQueueBytes),
      // One worker serves both sides.
      .spin_ns =
          1000 * std::max(protocol::ReadSetting(client, config::kTcpSpinUs),
                          protocol::ReadSetting(server, config::kTcpSpinUs)),
  };
}

}  // namespace distbench::libfabric
