#include "distbench/products/libfabric/settings.h"

#include <algorithm>
#include <map>
#include <variant>

#include "distbench/products/libfabric/declaration.h"
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
      .provider = ReadText(server, kProvider, kDefaultProvider),
      .is_connected = ReadText(server, kEndpoint, kRdmEndpoint) == kMsgEndpoint,
      .receive_buffers = protocol::ReadSetting(server, kReceiveBuffers),
      .receive_buffer_bytes =
          protocol::ReadSetting(server, kReceiveBufferBytes),
      .send_queue_bytes =
          protocol::ReadSetting(client, config::kTcpSendQueueBytes),
      // One worker serves both sides.
      .spin_ns =
          1000 * std::max(protocol::ReadSetting(client, config::kTcpSpinUs),
                          protocol::ReadSetting(server, config::kTcpSpinUs)),
  };
}

}  // namespace distbench::libfabric
