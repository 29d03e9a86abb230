// What tests ask of the declarations of drivers.

#ifndef DISTBENCH_CONFIG_CATALOGS_TESTING_DECLARATION_TESTING_H_
#define DISTBENCH_CONFIG_CATALOGS_TESTING_DECLARATION_TESTING_H_

#include "distbench/config/catalogs/driver_catalog.h"

namespace distbench::config {

// Expects that the driver and its settings are documented, that defaults are
// allowed, and that what validation relies on is said.
void ExpectIsWellDeclared(const DriverDeclaration& driver);

}  // namespace distbench::config

#endif  // DISTBENCH_CONFIG_CATALOGS_TESTING_DECLARATION_TESTING_H_
