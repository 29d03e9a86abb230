// Tests of drivers that measure time parts. A driver runs the suite by
//
//   INSTANTIATE_TEST_SUITE_P(Tcp, TimePartsConformanceTest,
//                            testing::Values(DriverUnderTest{...}));
//
// where the drivers that DriverUnderTest makes measure time parts.

#ifndef DISTBENCH_PROTOCOL_TESTING_TIME_PARTS_CONFORMANCE_H_
#define DISTBENCH_PROTOCOL_TESTING_TIME_PARTS_CONFORMANCE_H_

#include "distbench/protocol/testing/driver_conformance.h"

namespace distbench::protocol {

class TimePartsConformanceTest : public DriverConformanceTest {};

}  // namespace distbench::protocol

#endif  // DISTBENCH_PROTOCOL_TESTING_TIME_PARTS_CONFORMANCE_H_
