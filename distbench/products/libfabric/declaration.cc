#include "distbench/products/libfabric/declaration.h"

#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "distbench/config/catalogs/driver_settings.h"
#include "distbench/config/plan/driver_options.h"
#include "optional_libraries.h"

namespace distbench::libfabric {
namespace {

// What an endpoint over sockets opens, in libfabric 1.17.
constexpr int64_t kFilesPerEndpoint = 10;

// Whether the provider is memory that processes share.
bool IsSharedMemory(const config::DriverOptions& options) {
  const auto* provider =
      config::FindSettingValue<std::string>(options.server_settings, kProvider);
  return provider != nullptr && absl::StrContains(*provider, "shm");
}

config::DriverFiles Files(const config::DriverOptions& options) {
  if (IsSharedMemory(options)) return {.has_connections = false};
  return {.per_worker = kFilesPerEndpoint};
}

config::SettingsDeclaration OfServer() {
  return {.settings = {
              {
                  .name = kProvider,
                  .description = "The provider, as fi_info lists it, if needed "
                                 "with its utility layers, such as "
                                 "\"tcp;ofi_rxm\".",
                  .default_value = kDefaultProvider,
              },
              {
                  .name = kEndpoint,
                  .description = "\"rdm\" for reliable datagrams, or \"msg\" "
                                 "for a connection to each peer.",
                  .default_value = kRdmEndpoint,
                  .allowed_values = {kRdmEndpoint, kMsgEndpoint},
              },
              config::LimitedSetting(kReceiveBuffers,
                                     "Buffers of each worker in which messages "
                                     "can arrive at the same time."),
              config::LimitedSetting(kReceiveBufferBytes,
                                     "Size of each of these buffers; a larger "
                                     "message arrives in pieces."),
          }};
}

void Complete(config::DriverDeclaration& driver) {
  driver.client_settings.settings.push_back(config::SpinUs());
  driver.server_settings.settings.push_back(config::SpinUs());
  driver.channel_settings = config::ChannelSettings();
}

}  // namespace

config::DriverDeclaration Declaration() {
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
          {.settings = {config::LimitedSetting(
               config::kTcpSendQueueBytes,
               "Bytes of requests to a server that may wait to be "
               "sent before more requests are held back.")},
           .refused =
               config::NoCallsPerConnection("its links are no connections")},
      .server_settings = OfServer(),
      .files = &Files,
      .complete = &Complete,
  };
}

}  // namespace distbench::libfabric
