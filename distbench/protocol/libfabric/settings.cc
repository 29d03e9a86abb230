#include "distbench/protocol/libfabric/settings.h"

#include <algorithm>
#include <map>
#include <variant>

#include "distbench/protocol/tcp/settings.h"

namespace distbench {
namespace {

std::string ReadProvider(
    const std::map<std::string, DriverOptions::Value>& settings) {
  const auto it = settings.find(kLibfabricProvider);
  if (it == settings.end()) return kLibfabricDefaultProvider;
  const auto* name = std::get_if<std::string>(&it->second);
  return name == nullptr ? kLibfabricDefaultProvider : *name;
}

}  // namespace

LibfabricSettings ReadLibfabricSettings(const DriverOptions& options) {
  const auto& client = options.client_settings;
  const auto& server = options.server_settings;
  return {
      .provider = ReadProvider(server),
      .receive_buffers = ReadSetting(server, kLibfabricReceiveBuffers),
      .receive_buffer_bytes = ReadSetting(server, kLibfabricReceiveBufferBytes),
      .send_queue_bytes = ReadSetting(client, kTcpSendQueueBytes),
      // One worker serves both sides.
      .spin_ns = 1000 * std::max(ReadSetting(client, kTcpSpinUs),
                                 ReadSetting(server, kTcpSpinUs)),
  };
}

}  // namespace distbench
