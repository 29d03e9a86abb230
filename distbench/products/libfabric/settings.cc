// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/products/libfabric/settings.h"

#include "distbench/products/libfabric/declaration.h"
#include "distbench/protocol/tcp/settings.h"

namespace distbench::libfabric {

LibfabricSettings ReadLibfabricSettings(const config::DriverOptions& options) {
  const auto& client = options.client_settings;
  const auto& server = options.server_settings;
  return {
      .provider =
          protocol::ReadTextSetting(server, kProvider, kDefaultProvider),
      .is_connected = protocol::ReadTextSetting(server, kEndpoint,
                                                kRdmEndpoint) == kMsgEndpoint,
      .receive_buffers = protocol::ReadSetting(server, kReceiveBuffers),
      .receive_buffer_bytes =
          protocol::ReadSetting(server, kReceiveBufferBytes),
      .send_queue_bytes =
          protocol::ReadSetting(client, config::kTcpSendQueueBytes),
      .spin_ns = protocol::ReadSpinNs(options),
  };
}

}  // namespace distbench::libfabric
