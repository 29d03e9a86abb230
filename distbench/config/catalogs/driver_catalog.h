// The protocol drivers that configs may name, and what can be set about each.
// Validation, documentation and help are all made from these declarations.

#ifndef DISTBENCH_CONFIG_CATALOGS_DRIVER_CATALOG_H_
#define DISTBENCH_CONFIG_CATALOGS_DRIVER_CATALOG_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "distbench/config/catalogs/settings.h"

namespace distbench {

// The setting of multi-server channels that names how RPCs are spread.
inline constexpr char kChannelPolicySetting[] = "policy";

struct DriverDeclaration {
  std::string name;

  // What it is, for people: sentences.
  std::string description;

  // False: a driver that others have; known to be named in a clear error.
  bool built_in = true;

  // Instances reach only those that run in the same process.
  bool stays_in_process = false;

  SettingsDeclaration client_settings = {};
  SettingsDeclaration server_settings = {};

  // Of multi-server channels; without any, the driver has no such channels.
  SettingsDeclaration channel_settings = {};

  // Driver that this is another name of, with other defaults; empty: none.
  std::string alias_of = {};

  // The server setting that names the driver which this one decorates, or
  // options of one; empty: it decorates none.
  std::string decorated_driver_setting = {};
};

// In the order in which documentation lists them.
absl::Span<const DriverDeclaration> DriverCatalog();

// Null if there is no such driver.
const DriverDeclaration* FindDriver(absl::string_view name);

// Names of the drivers that are built in.
std::vector<std::string> BuiltInDriverNames();

}  // namespace distbench

#endif  // DISTBENCH_CONFIG_CATALOGS_DRIVER_CATALOG_H_
