#include "distbench/config/catalogs/driver_settings.h"

#include "proto/catalogs.pb.h"

namespace distbench::config {
namespace {

using Settings = std::vector<SettingDeclaration>;

// The settings of a message of proto/catalogs.proto.
template <typename Message>
Settings Of() {
  return SettingsOf(*Message::descriptor());
}

Settings Joined(Settings settings, const Settings& own,
                const Settings& network) {
  settings.insert(settings.end(), own.begin(), own.end());
  settings.insert(settings.end(), network.begin(), network.end());
  return settings;
}

// The settings of the socket of a side come last.
void AddConnections(DriverDeclaration& driver) {
  Settings& of_client = driver.client_settings.settings;
  of_client = Joined(Of<catalog::Connections>(), of_client,
                     Of<catalog::ClientSockets>());
  Settings& of_server = driver.server_settings.settings;
  of_server =
      Joined(Of<catalog::Listener>(), of_server, Of<catalog::Sockets>());
  driver.channel_settings = {.settings = Of<catalog::Channel>()};
}

}  // namespace

DriverDeclaration DriverOverConnections(
    const std::string& name, const std::string& description,
    const std::vector<SettingDeclaration>& of_client,
    const std::vector<SettingDeclaration>& of_server) {
  return {.name = name,
          .description = description,
          .cancels_calls = true,
          .breaks_connections = true,
          .client_settings = {.settings = of_client},
          .server_settings = {.settings = of_server},
          .complete = &AddConnections};
}

}  // namespace distbench::config
