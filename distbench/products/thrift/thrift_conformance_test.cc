// Copyright distbench authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "distbench/products/thrift/thrift_driver.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/testing/connection_variants.h"
#include "distbench/protocol/tcp/testing/wire_time_conformance.h"
#include "distbench/protocol/testing/driver_conformance.h"

namespace distbench::thrift {
namespace {

using protocol::CallsPerConnectionTest;
using protocol::DriverConformanceTest;
using protocol::TimePartsConformanceTest;
using protocol::WireTimeConformanceTest;

std::vector<protocol::DriverUnderTest> Drivers(
    const std::vector<protocol::ConnectionVariant>& variants) {
  return protocol::DriversOf<ThriftDriver, protocol::ReadTcpSettings>(variants);
}

INSTANTIATE_TEST_SUITE_P(Usual, DriverConformanceTest,
                         testing::ValuesIn(Drivers(protocol::UsualVariants())),
                         protocol::NameOfDriver);
INSTANTIATE_TEST_SUITE_P(
    ACallPerConnection, CallsPerConnectionTest,
    testing::ValuesIn(Drivers(protocol::OneCallVariants())),
    protocol::NameOfDriver);
INSTANTIATE_TEST_SUITE_P(Timed, TimePartsConformanceTest,
                         testing::ValuesIn(Drivers(protocol::TimedVariants())),
                         protocol::NameOfDriver);
INSTANTIATE_TEST_SUITE_P(
    Stamped, WireTimeConformanceTest,
    testing::ValuesIn(Drivers(protocol::StampedVariants())),
    protocol::NameOfDriver);
INSTANTIATE_TEST_SUITE_P(
    Own, DriverConformanceTest,
    testing::ValuesIn(Drivers({{.name = "Spinning",
                                .settings = {{"spin_us", int64_t{100}}}}})),
    protocol::NameOfDriver);

}  // namespace
}  // namespace distbench::thrift
