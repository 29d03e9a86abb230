// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

// That the driver listens on a host without IPv6.

#include "tests/control_plane/no_ipv6.h"
#include "gtest/gtest.h"

namespace distbench::thrift {
namespace {

TEST(ThriftWithoutIpv6Test, Listens) { ExpectDriverListens("thrift"); }

}  // namespace
}  // namespace distbench::thrift
