// What tests ask of the declarations of drivers.

#ifndef DISTBENCH_CONFIG_CATALOGS_TESTING_DECLARATION_TESTING_H_
#define DISTBENCH_CONFIG_CATALOGS_TESTING_DECLARATION_TESTING_H_

#include "absl/strings/string_view.h"
#include "distbench/config/catalogs/driver_catalog.h"

namespace distbench::config {

// Returns null if the side does not declare the setting.
const SettingDeclaration* FindSetting(const SettingsDeclaration& side,
                                      absl::string_view name);

// Expects that the driver and its settings are documented, that defaults are
// allowed, and that what validation relies on is said.
void ExpectIsWellDeclared(const DriverDeclaration& driver);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_CATALOGS_TESTING_DECLARATION_TESTING_H_
