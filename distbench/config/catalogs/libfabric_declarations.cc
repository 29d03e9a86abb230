#include "distbench/config/catalogs/driver_declarations.h"
#include "distbench/config/catalogs/driver_settings.h"
#include "optional_libraries.h"

namespace distbench::config {

DriverDeclaration LibfabricDeclaration() {
  return {
      .name = "libfabric",
      .description =
          "Messages over reliable datagrams of libfabric, whose providers are "
          "networks for high-performance computing and clouds, TCP, and memory "
          "that processes share.",
      .built_in = DISTBENCH_HAS_LIBFABRIC == 1,
      .package = "libfabric-dev",
      .cancels_calls = true,
      .client_settings =
          {.settings = {LimitedSetting(kTcpSendQueueBytes,
                                       "Bytes of requests to a server that "
                                       "may wait to be sent before more "
                                       "requests are held back."),
                        SpinUs()},
           .refused = NoCallsPerConnection("its links are no connections")},
      .server_settings =
          {.settings =
               {{
                    .name = kLibfabricProvider,
                    .description =
                        "The provider, as fi_info lists it, if needed "
                        "with its utility layers, such as "
                        "\"tcp;ofi_rxm\".",
                    .default_value = kLibfabricDefaultProvider,
                },
                {
                    .name = kLibfabricEndpoint,
                    .description = "\"rdm\" for reliable datagrams, or \"msg\" "
                                   "for a connection to each peer.",
                    .default_value = kRdmEndpoint,
                    .allowed_values = {kRdmEndpoint, kMsgEndpoint},
                },
                LimitedSetting(kLibfabricReceiveBuffers,
                               "Buffers of each worker in which messages "
                               "can arrive at the same time."),
                LimitedSetting(kLibfabricReceiveBufferBytes,
                               "Size of each of these buffers; a larger "
                               "message arrives in pieces."),
                SpinUs()}},
      .channel_settings = ChannelSettings(),
  };
}

}  // namespace distbench::config
