#include <string>

#include "distbench/base/clock.h"
#include "distbench/protocol/loopback/loopback_driver.h"
#include "distbench/protocol/testing/driver_conformance.h"

namespace distbench {
namespace {

INSTANTIATE_TEST_SUITE_P(
    Loopback, DriverConformanceTest,
    testing::Values(DriverUnderTest{[](const std::string& test_nonce) {
      return MakeLoopbackDriver(RealClock(), test_nonce);
    }}));

}  // namespace
}  // namespace distbench
