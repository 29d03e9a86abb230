#include <cstdint>
#include <vector>

#include "distbench/products/thrift/thrift_driver.h"
#include "distbench/protocol/tcp/settings.h"
#include "distbench/protocol/tcp/testing/connection_variants.h"
#include "distbench/protocol/testing/driver_conformance.h"
#include "distbench/protocol/testing/time_parts_conformance.h"

namespace distbench {
namespace {

std::vector<DriverUnderTest> Drivers(
    const std::vector<ConnectionVariant>& variants) {
  return DriversOf<ThriftDriver, ReadTcpSettings>(variants);
}

INSTANTIATE_TEST_SUITE_P(Usual, DriverConformanceTest,
                         testing::ValuesIn(Drivers(UsualVariants())),
                         NameOfDriver);
INSTANTIATE_TEST_SUITE_P(ACallPerConnection, CallsPerConnectionTest,
                         testing::ValuesIn(Drivers(OneCallVariants())),
                         NameOfDriver);
INSTANTIATE_TEST_SUITE_P(Timed, TimePartsConformanceTest,
                         testing::ValuesIn(Drivers(TimedVariants())),
                         NameOfDriver);
INSTANTIATE_TEST_SUITE_P(
    Own, DriverConformanceTest,
    testing::ValuesIn(Drivers({{.name = "Spinning",
                                .settings = {{"spin_us", int64_t{100}}}}})),
    NameOfDriver);

}  // namespace
}  // namespace distbench
