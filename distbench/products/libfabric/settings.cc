#include "distbench/products/libfabric/settings.h"

#include <algorithm>
#include <map>
#include <variant>

#include "distbench/protocol/tcp/settings.h"

namespace distbench {
namespace {

std::string ReadText(
    const std::map<std::string, DriverOptions::Value>& settings,
    const char* setting, const char* default_value) {
  const auto it = settings.find(setting);
  if (it == settings.end()) return default_value;
  const auto* text = std::get_if<std::string>(&it->second);
  return text == nullptr ? default_value : *text;
}

}  // namespace

LibfabricSettings ReadLibfabricSettings(const DriverOptions& options) {
  const auto& client = options.client_settings;
  const auto& server = options.server_settings;
  return {
      .provider =
          ReadText(server, kLibfabricProvider, kLibfabricDefaultProvider),
      .is_connected =
          ReadText(server, kLibfabricEndpoint, kRdmEndpoint) == kMsgEndpoint,
      .receive_buffers = ReadSetting(server, kLibfabricReceiveBuffers),
      .receive_buffer_bytes = ReadSetting(server, kLibfabricReceiveBufferBytes),
      .send_queue_bytes = ReadSetting(client, kTcpSendQueueBytes),
      // One worker serves both sides.
      .spin_ns = 1000 * std::max(ReadSetting(client, kTcpSpinUs),
                                 ReadSetting(server, kTcpSpinUs)),
  };
}

}  // namespace distbench
