// What the declarations of several drivers have in common: settings that they
// declare alike, and a start for drivers over TCP connections.

#ifndef DISTBENCH_CONFIG_CATALOGS_DRIVER_SETTINGS_H_
#define DISTBENCH_CONFIG_CATALOGS_DRIVER_SETTINGS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/catalogs/settings.h"
#include "distbench/config/plan/driver_options.h"

namespace distbench::config {

// A number with the limits that catalog and driver share.
SettingDeclaration LimitedSetting(const TcpSettingLimits& limits,
                                  const std::string& description);

// How long an idle worker polls, of both sides.
SettingDeclaration SpinUs();

// TCP or a Unix socket, of servers.
SettingDeclaration Transport();

// The policy of multi-server channels.
SettingsDeclaration ChannelSettings();

// For drivers that write payloads from the payload slab themselves.
SettingDeclaration ZeroCopySetting();

// A driver over TCP connections that distbench makes, with its own settings
// after those that all have, of their sockets too.
DriverDeclaration DriverOverConnections(
    const std::string& name, const std::string& description,
    const std::vector<SettingDeclaration>& of_client,
    const std::vector<SettingDeclaration>& of_server);

// Each returns what SettingsDeclaration::refused has for a driver that cannot
// have, because of `reason`, a limit of the calls of a connection, or the
// settings of sockets.
std::map<std::string, std::string> NoCallsPerConnection(
    const std::string& reason);
std::map<std::string, std::string> NoNetworkSettings(const std::string& reason);

// Returns whether the setting is one of sockets that Unix sockets do not have.
bool NeedsNetwork(absl::string_view setting);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_CATALOGS_DRIVER_SETTINGS_H_
