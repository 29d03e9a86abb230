// The settings that several drivers declare alike.

#ifndef DISTBENCH_CONFIG_CATALOGS_DRIVER_SETTINGS_H_
#define DISTBENCH_CONFIG_CATALOGS_DRIVER_SETTINGS_H_

#include <map>
#include <string>

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

// Returns what SettingsDeclaration::refused has for a driver whose connections
// cannot be limited to a number of calls, because of `reason`.
std::map<std::string, std::string> NoCallsPerConnection(
    const std::string& reason);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_CATALOGS_DRIVER_SETTINGS_H_
