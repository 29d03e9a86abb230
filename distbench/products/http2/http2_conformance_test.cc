#include <cstdint>
#include <vector>

#include "distbench/products/http2/http2_driver.h"
#include "distbench/products/http2/settings.h"
#include "distbench/protocol/tcp/testing/connection_variants.h"
#include "distbench/protocol/testing/driver_conformance.h"
#include "distbench/protocol/testing/time_parts_conformance.h"

namespace distbench {
namespace {

std::vector<DriverUnderTest> Drivers(
    const std::vector<ConnectionVariant>& variants) {
  return DriversOf<Http2Driver, ReadHttp2Settings>(variants, kHttp2Alpn);
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
    testing::ValuesIn(Drivers(
        {{.name = "SmallWindows",
          .settings = {{"stream_window_bytes", int64_t{65'535}},
                       {"connection_window_bytes", int64_t{65'535}}}}})),
    NameOfDriver);

}  // namespace
}  // namespace distbench
