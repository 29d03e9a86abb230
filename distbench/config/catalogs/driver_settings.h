// What the declarations of several drivers have in common: settings that they
// declare alike, and a start for drivers over TCP connections. What is said to
// be data (proto/catalogs.proto) may be called only when main() runs, as by
// DriverDeclaration::complete.

#ifndef DISTBENCH_CONFIG_CATALOGS_DRIVER_SETTINGS_H_
#define DISTBENCH_CONFIG_CATALOGS_DRIVER_SETTINGS_H_

#include <map>
#include <string>
#include <vector>

#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/catalogs/settings.h"
#include "distbench/config/plan/driver_options.h"

namespace distbench::config {

// A number with the limits that a product's declaration and its driver share.
SettingDeclaration LimitedSetting(const TcpSettingLimits& limits,
                                  const std::string& description);

// How long an idle worker polls, of both sides; data.
SettingDeclaration SpinUs();

// The policy of multi-server channels; data.
SettingsDeclaration ChannelSettings();

// A driver over TCP connections that distbench makes, with its own settings.
// The catalog adds those that all have, of their sockets too.
DriverDeclaration DriverOverConnections(
    const std::string& name, const std::string& description,
    const std::vector<SettingDeclaration>& of_client,
    const std::vector<SettingDeclaration>& of_server);

// Returns what SettingsDeclaration::refused has for a driver that cannot have,
// because of `reason`, a limit of the calls of a connection.
std::map<std::string, std::string> NoCallsPerConnection(
    const std::string& reason);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_CATALOGS_DRIVER_SETTINGS_H_
