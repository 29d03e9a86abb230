// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// What tests ask of the declarations of drivers.

#ifndef DISTBENCH_CONFIG_CATALOGS_TESTING_DECLARATION_TESTING_H_
#define DISTBENCH_CONFIG_CATALOGS_TESTING_DECLARATION_TESTING_H_

#include <vector>

#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/catalogs/settings.h"
#include "distbench/config/plan/driver_options.h"

namespace distbench::config {

// Expects that the driver and its settings are documented, that defaults are
// allowed, and that what validation relies on is said.
void ExpectIsWellDeclared(const DriverDeclaration& driver);

// Expects that numbers have the defaults and ranges that the driver uses when
// it is made without the catalog.
void ExpectLimits(const SettingsDeclaration& side,
                  const std::vector<TcpSettingLimits>& limits);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_CATALOGS_TESTING_DECLARATION_TESTING_H_
