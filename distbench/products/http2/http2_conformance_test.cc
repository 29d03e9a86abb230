#include <cstdint>
#include <vector>

#include "distbench/products/http2/http2_driver.h"
#include "distbench/products/http2/settings.h"
#include "distbench/protocol/tcp/testing/connection_variants.h"
#include "distbench/protocol/testing/driver_conformance.h"
#include "distbench/protocol/testing/time_parts_conformance.h"

namespace distbench::http2 {
namespace {

using protocol::CallsPerConnectionTest;
using protocol::DriverConformanceTest;
using protocol::TimePartsConformanceTest;

std::vector<protocol::DriverUnderTest> Drivers(
    const std::vector<protocol::ConnectionVariant>& variants) {
  return protocol::DriversOf<Http2Driver, ReadHttp2Settings>(variants,
                                                             kHttp2Alpn);
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
    Own, DriverConformanceTest,
    testing::ValuesIn(Drivers(
        {{.name = "SmallWindows",
          .settings = {{"stream_window_bytes", int64_t{65'535}},
                       {"connection_window_bytes", int64_t{65'535}}}}})),
    protocol::NameOfDriver);

}  // namespace
}  // namespace distbench::http2
