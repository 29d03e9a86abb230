// A start for the declarations of drivers over TCP connections that are not
// data (proto/catalogs.proto), such as one of somebody's own.

#ifndef DISTBENCH_CONFIG_CATALOGS_DRIVER_SETTINGS_H_
#define DISTBENCH_CONFIG_CATALOGS_DRIVER_SETTINGS_H_

#include <string>
#include <vector>

#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/catalogs/settings.h"

namespace distbench::config {

// A driver over TCP connections that distbench makes, with its own settings.
// The catalog adds those that all have, of their sockets too.
DriverDeclaration DriverOverConnections(
    const std::string& name, const std::string& description,
    const std::vector<SettingDeclaration>& of_client,
    const std::vector<SettingDeclaration>& of_server);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_CATALOGS_DRIVER_SETTINGS_H_
