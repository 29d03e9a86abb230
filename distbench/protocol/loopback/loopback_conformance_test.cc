#include <string>

#include "distbench/base/clock.h"
#include "distbench/protocol/loopback/loopback_driver.h"
#include "distbench/protocol/testing/driver_conformance.h"
#include "distbench/protocol/testing/streaming_conformance.h"
#include "distbench/protocol/testing/time_parts_conformance.h"

namespace distbench::protocol {
namespace {

INSTANTIATE_TEST_SUITE_P(
    Loopback, DriverConformanceTest,
    testing::Values(DriverUnderTest{[](const std::string& test_nonce) {
      return MakeLoopbackDriver(base::RealClock(), test_nonce);
    }}));
INSTANTIATE_TEST_SUITE_P(
    Loopback, StreamingConformanceTest,
    testing::Values(DriverUnderTest{[](const std::string& test_nonce) {
      return MakeLoopbackDriver(base::RealClock(), test_nonce);
    }}));
INSTANTIATE_TEST_SUITE_P(
    Loopback, TimePartsConformanceTest,
    testing::Values(DriverUnderTest{[](const std::string& test_nonce) {
      return MakeLoopbackDriver(base::RealClock(), test_nonce,
                                /*measures_time_parts=*/true);
    }}));

}  // namespace
}  // namespace distbench::protocol
