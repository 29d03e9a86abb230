// The settings of sockets, which drivers over TCP connections declare alike.

#ifndef DISTBENCH_CONFIG_CATALOGS_NETWORK_SETTINGS_H_
#define DISTBENCH_CONFIG_CATALOGS_NETWORK_SETTINGS_H_

#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "distbench/config/catalogs/settings.h"

namespace distbench::config {

enum class NetworkSide { kClient, kServer };

// Adds the settings that every driver over TCP connections has.
SettingsDeclaration WithNetworkSettings(SettingsDeclaration declaration,
                                        NetworkSide side);

// For drivers that write payloads from the payload slab themselves.
SettingDeclaration ZeroCopySetting();

// Returns what SettingsDeclaration::refused has for a driver that cannot have
// these settings because of `reason`.
std::map<std::string, std::string> NetworkSettingsOfOthers(
    const std::string& reason);

// Returns whether the setting is one of these that Unix sockets do not have.
bool NeedsNetwork(absl::string_view setting);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_CATALOGS_NETWORK_SETTINGS_H_
