// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include "distbench/protocol/registry/testing/driver_registration.h"

#include "absl/status/status.h"
#include "distbench/config/catalogs/driver_catalog.h"
#include "distbench/config/catalogs/testing/declaration_testing.h"
#include "distbench/protocol/registry/registry.h"
#include "gtest/gtest.h"

namespace distbench::protocol {

void ExpectIsRegistered(const std::string& name) {
  SCOPED_TRACE(name);
  const config::DriverDeclaration* declaration = config::FindDriver(name);
  ASSERT_NE(declaration, nullptr);
  config::ExpectIsWellDeclared(*declaration);
  const auto driver =
      MakeProtocolDriver({.driver = name}, {.service_address = "127.0.0.1"});
  if (!declaration->built_in) {
    EXPECT_EQ(driver.status().code(), absl::StatusCode::kNotFound);
    return;
  }
  ASSERT_TRUE(driver.ok()) << driver.status();
  ASSERT_TRUE((*driver)->Listen(1).ok());
  // There are no connections yet.
  EXPECT_EQ((*driver)->transport(0).BreakConnections(),
            declaration->breaks_connections ? 0 : -1);
}

}  // namespace distbench::protocol
