#include "distbench/protocol/driver_conformance.h"
#include "distbench/protocol/loopback/loopback_driver.h"

namespace distbench {
namespace {

INSTANTIATE_TEST_SUITE_P(
    Loopback, DriverConformanceTest,
    testing::Values(DriverUnderTest{[] { return MakeLoopbackDriver(); }}));

}  // namespace
}  // namespace distbench
