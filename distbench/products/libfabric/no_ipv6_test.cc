// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// That the driver listens on a host without IPv6.

#include <string>

#include "absl/status/statusor.h"
#include "distbench/protocol/registry/registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/control_plane/no_ipv6.h"

namespace distbench::libfabric {
namespace {

// Its address is not a port: the first bytes are the socket address's family.
TEST(LibfabricWithoutIpv6Test, Listens) {
  auto driver = protocol::MakeProtocolDriver({.driver = "libfabric"},
                                             {.service_address = "127.0.0.1"});
  ASSERT_TRUE(driver.ok()) << driver.status();
  const absl::StatusOr<std::string> address = (*driver)->Listen(1);
  ASSERT_TRUE(address.ok()) << address.status();
  EXPECT_THAT(*address, testing::StartsWith("libfabric:tcp:0200"));
}

}  // namespace
}  // namespace distbench::libfabric
